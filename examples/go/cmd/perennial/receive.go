package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"

	"example.com/perennial"
)

const (
	path    = "/events"
	maxBody = 1 << 20
)

// Receives events, as a channel must, and prints each.
func receive() error {
	channel, err := readChannel()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+argument(3, "3000"))
	if err != nil {
		return err
	}
	fmt.Printf("listening http://localhost:%d%s\n", listener.Addr().(*net.TCPAddr).Port, path)
	return http.Serve(listener, &receiver{channel: channel, dealtWith: map[string]bool{}})
}

type receiver struct {
	channel *perennial.Channel
	mutex   sync.Mutex
	// In production store them for 30 days in the database, in the transaction of the event's changes.
	dealtWith map[string]bool
}

type event struct {
	EventID    string `json:"eventId"`
	EventType  string `json:"eventType"`
	OccurredAt string `json:"occurredAt"`
	RetryNo    int    `json:"retryNo"`
	Data       struct {
		OrderNo       string `json:"orderNo"`
		OrderStatus   string `json:"orderStatus"`
		CycleNo       int    `json:"cycleNo"`
		PaymentStatus string `json:"paymentStatus"`
		ExpectPayTime string `json:"expectPayTime"`
	} `json:"data"`
}

func (r *receiver) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost || request.RequestURI != path {
		answer(writer, http.StatusNotFound, "not-found")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(writer, request.Body, maxBody))
	if err != nil {
		answer(writer, http.StatusBadRequest, "length")
		return
	}
	if !r.channel.Verify(path, request.Header, body) {
		fmt.Println("refused: not signed by the service, or too old")
		answer(writer, http.StatusUnauthorized, "signature")
		return
	}
	var came event
	if err := json.Unmarshal(body, &came); err != nil {
		answer(writer, http.StatusBadRequest, "body")
		return
	}
	r.deal(came)
	answer(writer, http.StatusOK, "0") // within 5 s: longer work is done afterwards
}

func (r *receiver) deal(came event) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.dealtWith[came.EventID] {
		fmt.Printf("again     %s, retryNo %d: it was dealt with\n", came.EventID, came.RetryNo)
		return
	}
	r.dealtWith[came.EventID] = true
	fmt.Printf("event     %s  %s  %s  %s\n", came.EventID, came.OccurredAt, came.EventType, tell(came))
}

// Unknown types are acknowledged too, because later versions may add some.
func tell(came event) string {
	data := came.Data
	switch came.EventType {
	case "order.status.changed":
		return fmt.Sprintf("order %s  %s", data.OrderNo, data.OrderStatus)
	case "payment.status.changed":
		return fmt.Sprintf("order %s  period %d %s", data.OrderNo, data.CycleNo, data.PaymentStatus)
	case "payment.upcoming":
		// In production notify the user, with redeemUrl for unsubscribing before the debit, unless this came too late.
		return fmt.Sprintf("order %s  period %d is due %s", data.OrderNo, data.CycleNo, data.ExpectPayTime)
	default:
		return "a type that is not known here"
	}
}

func answer(writer http.ResponseWriter, status int, code string) {
	writer.Header().Set("Content-Type", "application/json")
	writer.WriteHeader(status)
	fmt.Fprintf(writer, `{"code":"%s"}`, code)
}
