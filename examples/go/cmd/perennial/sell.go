package main

import (
	"fmt"
	"math/rand"
	"strings"
	"time"

	"example.com/perennial"
)

type fields = map[string]any

// Sells a subscription in each of the three ways, queries them, and ends one.
func sell() error {
	channel, err := readChannel()
	if err != nil {
		return err
	}
	seller := &seller{channel: channel, run: perennial.NewKey()[:12]}
	// A new user each time, because a user's mobile never changes within a channel.
	seller.user = "user-" + seller.run
	seller.mobile = fmt.Sprintf("1%010d", rand.New(rand.NewSource(time.Now().UnixNano())).Int63n(1e10))
	for _, step := range []func() error{
		seller.choose, seller.sellOnCard, seller.sellOnShared, seller.sellCollected, seller.askLater, seller.end,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

type seller struct {
	channel                         *perennial.Channel
	run, user, mobile, product      string
	ownOrderNo, ownFirstPeriodOrder string
}

func (s *seller) card() fields {
	return fields{
		"channelUserId":          s.user,
		"bankCardNoEncrypted":    s.channel.Encrypt("6222020000001234567"),
		"certificateNoEncrypted": s.channel.Encrypt("110101199001011234"),
		"realNameEncrypted":      s.channel.Encrypt("张三"),
		"bankMobileEncrypted":    s.channel.Encrypt("13800000001"),
	}
}

func (s *seller) choose() error {
	data, err := s.channel.Call("products/list", fields{})
	if err != nil {
		return err
	}
	var codes []string
	for _, product := range list(data["items"]) {
		codes = append(codes, fmt.Sprint(product["productCode"]))
	}
	s.product = codes[0]
	show("products", strings.Join(codes, " "))
	return nil
}

// A.1: the user binds a card with the code that the bank sends, and the service debits it.
func (s *seller) sellOnCard() error {
	card := s.card()
	card["mobileEncrypted"] = s.channel.Encrypt(s.mobile)
	sent, err := s.channel.Call("agreements/bind-sms", card)
	if err != nil {
		return err
	}
	code := fields{"bindOrderNo": sent["bindOrderNo"], "smsCodeEncrypted": s.channel.Encrypt("123456")}
	if _, err := s.channel.Call("agreements/bind-confirm", code); err != nil {
		return err
	}
	order, err := s.channel.Call("orders/create", fields{
		"settlementMode":  "SVC_DEDUCT",
		"externalOrderNo": "own-" + s.run,
		"productCode":     s.product,
		"bindOrderNo":     sent["bindOrderNo"],
	})
	if err != nil {
		return err
	}
	s.ownOrderNo = fmt.Sprint(order["orderNo"])
	s.ownFirstPeriodOrder = fmt.Sprint(list(order["paymentRecords"])[0]["paymentOrderNo"])
	showOrder("A.1", order)
	return nil
}

// A.2: the channel shares its own agreement, and the service debits it.
func (s *seller) sellOnShared() error {
	agreement := s.card()
	agreement["paymentChannelCode"] = "MOCKPAY"
	agreement["sharedAgreementNo"] = "agreement-" + s.run
	return s.showCall("A.2", "orders/create", perennial.NewKey(), fields{
		"settlementMode":  "SVC_DEDUCT",
		"externalOrderNo": "shared-" + s.run,
		"productCode":     s.product,
		"channelUserId":   s.user,
		"mobileEncrypted": s.channel.Encrypt(s.mobile),
		"sharedAgreement": agreement,
	})
}

// B: the channel collects the money, and the service bills. The same body with the same key is the same order.
func (s *seller) sellCollected() error {
	collected := fields{
		"settlementMode":  "CHANNEL_COLLECT",
		"externalOrderNo": "collected-" + s.run,
		"productCode":     s.product,
		"channelUserId":   s.user,
		"mobileEncrypted": s.channel.Encrypt(s.mobile),
	}
	key := perennial.NewKey()
	if err := s.showCall("B", "orders/create", key, collected); err != nil {
		return err
	}
	return s.showCall("again", "orders/create", key, collected)
}

func (s *seller) askLater() error {
	asked := fields{"externalOrderNo": "shared-" + s.run}
	if err := s.showCall("query", "orders/query", perennial.NewKey(), asked); err != nil {
		return err
	}
	orders, err := s.channel.Call("orders/list", fields{"channelUserId": s.user})
	if err != nil {
		return err
	}
	show("list", fmt.Sprintf("%d orders", len(list(orders["orders"]))))
	period, err := s.channel.Call("payments/query", fields{"paymentOrderNo": s.ownFirstPeriodOrder})
	if err != nil {
		return err
	}
	show("period", fmt.Sprintf("%s %s", s.ownFirstPeriodOrder, period["paymentStatus"]))
	cards, err := s.channel.Call("agreements/user-data", fields{"channelUserId": s.user})
	if err != nil {
		return err
	}
	number, err := s.channel.Decrypt(fmt.Sprint(list(cards["bankDataList"])[0]["bankCardNoEncrypted"]))
	if err != nil {
		return err
	}
	show("card", "ends in "+number[len(number)-4:])
	return nil
}

func (s *seller) end() error {
	ending := fields{"orderNo": s.ownOrderNo, "reason": "too expensive"}
	return s.showCall("ended", "orders/unsubscribe", perennial.NewKey(), ending)
}

func (s *seller) showCall(name, endpoint, key string, content fields) error {
	order, err := s.channel.CallWithKey(endpoint, content, key)
	if err == nil {
		showOrder(name, order)
	}
	return err
}

func showOrder(name string, order fields) {
	first := list(order["paymentRecords"])[0]
	show(name, fmt.Sprintf("%s %s, period 1 %s", order["orderNo"], order["orderStatus"], first["paymentStatus"]))
}

func show(name, text string) { fmt.Printf("%-10s %s\n", name, text) }

// Returns the objects of a list in an answer.
func list(value any) []fields {
	values, _ := value.([]any)
	objects := make([]fields, 0, len(values))
	for _, one := range values {
		if object, is := one.(fields); is {
			objects = append(objects, object)
		}
	}
	return objects
}
