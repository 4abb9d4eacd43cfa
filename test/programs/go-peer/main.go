// Both ends of MCP with the SDK for Go and with mcp-go:
// `go-peer server <sdk|mcp-go> <sessions|events|stateless> <port>`, `go-peer server <sdk|mcp-go> stdio`,
// `go-peer client <sdk|mcp-go> <initialize|auto> <url> <token> <form,url>`.
package main

import (
	"fmt"
	"os"
)

func main() {
	arguments := os.Args[1:]
	var err error
	switch {
	case arguments[0] == "client":
		err = runClient(arguments[1], arguments[2], arguments[3], arguments[4], arguments[5])
	case arguments[2] == "stdio":
		err = serve(arguments[1], arguments[2], "")
	default:
		err = serve(arguments[1], arguments[2], arguments[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
