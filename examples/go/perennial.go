// Package perennial is a channel's client for Perennial. Copy this file into your project: it needs nothing but the standard
// library.
//
//	channel, err := perennial.Read("data/demo-channel.json")
//	order, err := channel.Call("orders/create", map[string]any{"mobileEncrypted": channel.Encrypt("13800000001"), ...})
package perennial

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	prefix      = "/openapi/v1/"
	maxEventAge = 5 * time.Minute
)

// waits are the delays before each retry.
var waits = []time.Duration{1 * time.Second, 3 * time.Second, 9 * time.Second}

// Error is a refusal with its code. NO_ANSWER: the last attempt got no answer that can be read.
type Error struct {
	Endpoint, Code, Message, RequestID string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s was refused: %s %s (request %s)", e.Endpoint, e.Code, e.Message, e.RequestID)
}

// Channel is one channel with its token. Goroutines may share it.
type Channel struct {
	BaseURL        string `json:"baseUrl"`
	AppID          string `json:"appId"`
	AppSecret      string `json:"appSecret"`
	AESKey         string `json:"aesKey"`
	CallbackSecret string `json:"callbackSecret"`

	mutex     sync.Mutex
	token     string
	tokenEnds time.Time
}

// Read reads the channel from a file as `npm start` writes it.
func Read(path string) (*Channel, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	channel := &Channel{}
	return channel, json.Unmarshal(text, channel)
}

// Call sends one request and returns the `data` of its answer.
func (c *Channel) Call(endpoint string, content map[string]any) (map[string]any, error) {
	return c.CallWithKey(endpoint, content, NewKey())
}

// CallWithKey sends a write that may be retried later: with the same key it is executed once.
func (c *Channel) CallWithKey(endpoint string, content map[string]any, key string) (map[string]any, error) {
	token, err := c.currentToken("")
	if err != nil {
		return nil, err
	}
	data, err := c.send(endpoint, content, key, token)
	var refusal *Error
	if !errors.As(err, &refusal) || (refusal.Code != "401005" && refusal.Code != "401006") {
		return data, err
	}
	if token, err = c.currentToken(token); err != nil {
		return nil, err
	}
	return c.send(endpoint, content, key, token)
}

// Encrypt returns the value of a field whose name ends in Encrypted, in svc_aes_v2.
func (c *Channel) Encrypt(text string) string { return Encrypt(c.AESKey, text, random(12)) }

// Decrypt decrypts a value of either version.
func (c *Channel) Decrypt(value string) (string, error) { return Decrypt(c.AESKey, value) }

// Verify reports whether an event is authentic and was sent within 5 minutes. The body is the raw bytes.
func (c *Channel) Verify(path string, headers http.Header, body []byte) bool {
	return Verify(c.CallbackSecret, path, headers, body, time.Now())
}

// currentToken returns a token. It renews it a minute before it expires, or if the service reports its end.
func (c *Channel) currentToken(ended string) (string, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.token != ended && time.Now().Before(c.tokenEnds) {
		return c.token, nil
	}
	asked := map[string]any{"grantType": "client_credentials", "appId": c.AppID}
	data, err := c.send("auth/token", asked, NewKey(), "")
	if err != nil {
		return "", err
	}
	seconds, err := strconv.Atoi(fmt.Sprint(data["expiresIn"]))
	if err != nil {
		return "", err
	}
	c.token = fmt.Sprint(data["accessToken"])
	c.tokenEnds = time.Now().Add(time.Duration(seconds-60) * time.Second)
	return c.token, nil
}

type envelope struct {
	Code      string         `json:"code"`
	Message   string         `json:"message"`
	RequestID string         `json:"requestId"`
	Data      map[string]any `json:"data"`
}

// send retries with the same body and key, and signs each attempt again.
func (c *Channel) send(endpoint string, content map[string]any, key, token string) (map[string]any, error) {
	body, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		requestID := NewKey()
		status, retryAfter, answer, failure := c.post(endpoint, body, key, token, requestID)
		isToBeTriedAgain := status == 0 || status == http.StatusTooManyRequests || status >= 500
		if isToBeTriedAgain && try < len(waits) {
			wait := waits[try]
			if seconds, err := strconv.Atoi(retryAfter); err == nil && status == http.StatusTooManyRequests {
				wait = time.Duration(seconds) * time.Second
			}
			time.Sleep(wait)
			continue
		}
		if failure != nil {
			return nil, &Error{Endpoint: endpoint, Code: "NO_ANSWER", Message: failure.Error(), RequestID: requestID}
		}
		if answer.Code != "0" {
			return nil, &Error{endpoint, answer.Code, answer.Message, answer.RequestID}
		}
		return answer.Data, nil
	}
}

var client = &http.Client{
	Timeout: 20 * time.Second,
	Transport: &http.Transport{
		Proxy:       http.ProxyFromEnvironment,
		DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// post makes one attempt. Status 0 is a broken connection or a timeout.
func (c *Channel) post(endpoint string, body []byte, key, token, requestID string) (int, string, envelope, error) {
	request, err := http.NewRequest(http.MethodPost, c.BaseURL+prefix+endpoint, bytes.NewReader(body))
	if err != nil {
		return 0, "", envelope{}, err
	}
	// With a key and a body that can be read again, net/http would resend the same nonce, which is refused.
	request.GetBody = nil
	timestamp := strconv.FormatInt(time.Now().UnixMilli(), 10)
	nonce := hex.EncodeToString(random(16))
	for name, value := range map[string]string{
		"Content-Type":     "application/json;charset=UTF-8",
		"X-SVC-App-Id":     c.AppID,
		"X-SVC-Timestamp":  timestamp,
		"X-SVC-Nonce":      nonce,
		"X-SVC-Request-Id": requestID,
		"X-SVC-Signature":  Sign(c.AppSecret, prefix+endpoint, "", body, timestamp, nonce, requestID),
		"Idempotency-Key":  key, // reads ignore it
	} {
		request.Header.Set(name, value)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", envelope{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, "", envelope{}, err
	}
	status, retryAfter := response.StatusCode, response.Header.Get("Retry-After")
	answer, err := readEnvelope(text)
	if err != nil && status < 300 {
		return 0, "", answer, errors.New("the answer was cut off")
	}
	if err != nil {
		return status, retryAfter, answer, fmt.Errorf("HTTP %d", status)
	}
	return status, retryAfter, answer, nil
}

// readEnvelope keeps numbers as written: a float64 would round those of 64 bits.
func readEnvelope(text []byte) (envelope, error) {
	var answer envelope
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&answer); err != nil {
		return answer, err
	}
	if answer.Code == "" {
		return answer, errors.New("no code")
	}
	return answer, nil
}

// Sign returns the signature of a request, or of an event, whose id is then the last line. The digest covers the bytes
// sent.
func Sign(secret, path, query string, body []byte, timestamp, nonce, requestID string) string {
	digest := sha256.Sum256(body)
	lines := []string{"POST", path, query, hex.EncodeToString(digest[:]), timestamp, nonce, requestID}
	return base64.StdEncoding.EncodeToString(mac(secret, strings.Join(lines, "\n")))
}

// Verify is Channel.Verify at a given time.
func Verify(callbackSecret, path string, headers http.Header, body []byte, now time.Time) bool {
	timestamp := headers.Get("X-SVC-Timestamp")
	expected := Sign(callbackSecret, path, "", body, timestamp, headers.Get("X-SVC-Nonce"), headers.Get("X-SVC-Event-Id"))
	if subtle.ConstantTimeCompare([]byte(headers.Get("X-SVC-Signature")), []byte(expected)) != 1 {
		return false
	}
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	age := now.Sub(time.UnixMilli(sent))
	return err == nil && age <= maxEventAge && age >= -maxEventAge
}

// RedeemLink returns a link to the redemption page, as the service creates it. exp is in Unix seconds.
func RedeemLink(callbackSecret, host, orderNo, appID, channelUserID string, exp int64) string {
	nothing := sha256.Sum256(nil)
	end := strconv.FormatInt(exp, 10)
	lines := []string{"GET", "/redeem", "", hex.EncodeToString(nothing[:]), end, appID, channelUserID, orderNo}
	sig := base64.RawURLEncoding.EncodeToString(mac(callbackSecret, strings.Join(lines, "\n")))
	return fmt.Sprintf("%s/redeem?orderNo=%s&appId=%s&channelUserId=%s&exp=%s&sig=%s",
		host, escape(orderNo), escape(appID), escape(channelUserID), end, sig)
}

// escape escapes everything but letters, digits and -_.~, because chats and mails cut links at brackets and quotes.
func escape(text string) string {
	var escaped strings.Builder
	for _, char := range []byte(text) {
		isLetter := 'a' <= char && char <= 'z' || 'A' <= char && char <= 'Z'
		if isLetter || '0' <= char && char <= '9' || strings.IndexByte("-_.~", char) >= 0 {
			escaped.WriteByte(char)
		} else {
			fmt.Fprintf(&escaped, "%%%02X", char)
		}
	}
	return escaped.String()
}

// region Encrypted fields

const (
	v1 = "svc_aes_v1:"
	v2 = "svc_aes_v2:"
)

// ErrDecrypt is the error for every unreadable value: telling wrong padding from wrong text would let a client decrypt
// v1.
var ErrDecrypt = errors.New("the value cannot be decrypted")

// Encrypt encrypts in svc_aes_v2 with an IV of 12 bytes: never use one twice.
func Encrypt(aesKey, text string, iv []byte) string {
	return v2 + base64.StdEncoding.EncodeToString(gcm(aesKey).Seal(iv, iv, []byte(text), nil))
}

// EncryptV1 encrypts in svc_aes_v1, which does not detect tampering: prefer v2. The IV has 16 bytes.
func EncryptV1(aesKey, text string, iv []byte) string {
	missing := aes.BlockSize - len(text)%aes.BlockSize
	padded := append([]byte(text), bytes.Repeat([]byte{byte(missing)}, missing)...)
	cipher.NewCBCEncrypter(block(decodeKey(aesKey)), iv).CryptBlocks(padded, padded)
	return v1 + base64.StdEncoding.EncodeToString(append(append([]byte{}, iv...), padded...))
}

// Decrypt decrypts either version.
func Decrypt(aesKey, value string) (string, error) {
	var text []byte
	var err error
	switch {
	case strings.HasPrefix(value, v2):
		text, err = open(aesKey, strings.TrimPrefix(value, v2))
	case strings.HasPrefix(value, v1):
		text, err = openV1(aesKey, strings.TrimPrefix(value, v1))
	default:
		err = ErrDecrypt
	}
	if err != nil || !utf8.Valid(text) {
		return "", ErrDecrypt
	}
	return string(text), nil
}

func open(aesKey, encoded string) ([]byte, error) {
	bare, err := fromBase64(encoded)
	if err != nil || len(bare) < 12 {
		return nil, ErrDecrypt
	}
	return gcm(aesKey).Open(nil, bare[:12], bare[12:], nil)
}

func openV1(aesKey, encoded string) ([]byte, error) {
	bare, err := fromBase64(encoded)
	if err != nil || len(bare) < 2*aes.BlockSize || len(bare)%aes.BlockSize != 0 {
		return nil, ErrDecrypt
	}
	text := bare[aes.BlockSize:]
	cipher.NewCBCDecrypter(block(decodeKey(aesKey)), bare[:aes.BlockSize]).CryptBlocks(text, text)
	padding := int(text[len(text)-1])
	if padding < 1 || padding > aes.BlockSize {
		return nil, ErrDecrypt
	}
	text, tail := text[:len(text)-padding], text[len(text)-padding:]
	if !bytes.Equal(tail, bytes.Repeat([]byte{byte(padding)}, padding)) {
		return nil, ErrDecrypt
	}
	return text, nil
}

// fromBase64 accepts only canonical standard base64.
func fromBase64(text string) ([]byte, error) {
	bare, err := base64.StdEncoding.DecodeString(text)
	if err == nil && base64.StdEncoding.EncodeToString(bare) != text {
		err = ErrDecrypt
	}
	return bare, err
}

func gcm(aesKey string) cipher.AEAD {
	aead, err := cipher.NewGCM(block(mac(aesKey, "svc_aes_v2")))
	if err != nil {
		panic(err)
	}
	return aead
}

func block(key []byte) cipher.Block {
	made, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	return made
}

func mac(secret, text string) []byte {
	made := hmac.New(sha256.New, decodeKey(secret))
	made.Write([]byte(text))
	return made.Sum(nil)
}

// decodeKey panics for an invalid key, which is a configuration error.
func decodeKey(secret string) []byte {
	key, err := base64.StdEncoding.DecodeString(secret)
	if err != nil || len(key) != 32 {
		panic("a secret of the channel is not 32 bytes in base64")
	}
	return key
}

// endregion

// NewKey returns an Idempotency-Key or a request id.
func NewKey() string { return hex.EncodeToString(random(16)) }

func random(size int) []byte {
	made := make([]byte, size)
	if _, err := rand.Read(made); err != nil {
		panic(err)
	}
	return made
}
