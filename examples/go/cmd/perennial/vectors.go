package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"example.com/perennial"
)

type vectorFile struct {
	AppSecret, AESKey, CallbackSecret string
	Cases, Good, Bad                  []vector
}

type vector struct {
	Name, Path, Query, BodyHex, Timestamp, Nonce, RequestID, EventID, Signature string
	Text, IVHex, Value                                                          string
	Host, OrderNo, AppID, ChannelUserID, URL                                    string
	Exp                                                                         int64
}

type encrypter = func(aesKey, text string, iv []byte) string

// Proves the client against the known answers.
func vectors() error {
	prover := &prover{folder: argument(2, "../../packages/wire/vectors")}
	for _, one := range []struct {
		name  string
		prove func(vectorFile)
	}{
		{"request-signature", prover.requests},
		{"webhook-signature", prover.events},
		{"encrypted-fields", func(of vectorFile) { prover.fields(of, perennial.EncryptV1) }},
		{"encrypted-fields-v2", func(of vectorFile) { prover.fields(of, perennial.Encrypt) }},
		{"redeem-link", prover.links},
	} {
		var of vectorFile
		text, err := os.ReadFile(filepath.Join(prover.folder, one.name+".json"))
		if err == nil {
			err = json.Unmarshal(text, &of)
		}
		if err != nil {
			return err
		}
		one.prove(of)
		fmt.Printf("%-20s %d cases\n", one.name, len(of.Cases)+len(of.Good)+len(of.Bad))
	}
	if len(prover.wrong) > 0 {
		return errors.New("wrong: " + strings.Join(prover.wrong, "; "))
	}
	return nil
}

type prover struct {
	folder string
	wrong  []string
}

func (p *prover) check(name string, holds bool) {
	if !holds {
		p.wrong = append(p.wrong, name)
	}
}

func (p *prover) requests(of vectorFile) {
	for _, one := range of.Cases {
		made := perennial.Sign(of.AppSecret, one.Path, one.Query, unhex(one.BodyHex), one.Timestamp, one.Nonce, one.RequestID)
		p.check(one.Name, made == one.Signature)
	}
}

func (p *prover) events(of vectorFile) {
	for _, one := range of.Cases {
		body := unhex(one.BodyHex)
		sentMs, err := strconv.ParseInt(one.Timestamp, 10, 64)
		p.check(one.Name+": timestamp", err == nil)
		sent := time.UnixMilli(sentMs)
		headers := http.Header{}
		headers.Set("X-SVC-Timestamp", one.Timestamp)
		headers.Set("X-SVC-Nonce", one.Nonce)
		headers.Set("X-SVC-Event-Id", one.EventID)
		headers.Set("X-SVC-Signature", one.Signature)
		verify := func(path string, headers http.Header, body []byte, age time.Duration) bool {
			return perennial.Verify(of.CallbackSecret, path, headers, body, sent.Add(age))
		}
		p.check(one.Name, verify(one.Path, headers, body, 5*time.Minute))
		p.check(one.Name+": too old", !verify(one.Path, headers, body, 5*time.Minute+time.Millisecond))
		p.check(one.Name+": another body", !verify(one.Path, headers, append(body, ' '), 0))
		p.check(one.Name+": another path", !verify(one.Path+"x", headers, body, 0))
		p.check(one.Name+": no signature", !verify(one.Path, http.Header{}, body, 0))
	}
}

func (p *prover) fields(of vectorFile, encrypt encrypter) {
	for _, one := range of.Good {
		p.check(one.Name, encrypt(of.AESKey, one.Text, unhex(one.IVHex)) == one.Value)
		text, err := perennial.Decrypt(of.AESKey, one.Value)
		p.check(one.Name+": decrypted", err == nil && text == one.Text)
	}
	for _, one := range of.Bad {
		_, err := perennial.Decrypt(of.AESKey, one.Value)
		p.check(one.Name+" must be refused", err != nil)
	}
}

func (p *prover) links(of vectorFile) {
	for _, one := range of.Cases {
		made := perennial.RedeemLink(of.CallbackSecret, one.Host, one.OrderNo, one.AppID, one.ChannelUserID, one.Exp)
		p.check(one.Name, made == one.URL)
	}
}

func unhex(text string) []byte {
	bare, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return bare
}
