// Command perennial shows what a channel does with Perennial.
//
//	perennial sell [path to demo-channel.json]            a subscription in each of the three ways
//	perennial receive [path to demo-channel.json] [port]  receives events
//	perennial vectors [folder of the vectors]             proves the client against the known answers
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"example.com/perennial"
)

func main() {
	programs := map[string]func() error{"sell": sell, "receive": receive, "vectors": vectors}
	run, is := programs[argument(1, "")]
	if !is {
		stop("perennial", "sell, receive or vectors?")
	}
	if err := run(); err != nil {
		stop(os.Args[1], err.Error())
	}
}

func readChannel() (*perennial.Channel, error) {
	folder := os.Getenv("DATA_DIR")
	if folder == "" {
		folder = "data"
	}
	file := argument(2, filepath.Join(folder, "demo-channel.json"))
	channel, err := perennial.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: npm start writes it; set DATA_DIR, or name the file", file)
	}
	return channel, nil
}

func argument(place int, otherwise string) string {
	if len(os.Args) > place {
		return os.Args[place]
	}
	return otherwise
}

func stop(name, reason string) {
	fmt.Fprintf(os.Stderr, "%s: %s\n", name, reason)
	os.Exit(1)
}
