// A server whose tools ask. What it does, it writes to standard error: `did: book Lisbon for 3`.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/google/jsonschema-go/jsonschema"
	mark3 "github.com/mark3labs/mcp-go/mcp"
	mark3server "github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func did(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "did: "+format+"\n", values...)
}

type place struct {
	City string `json:"city"`
}

func question(city string) *mcp.ElicitParams {
	return &mcp.ElicitParams{
		Message: "How many nights in " + city + "?",
		RequestedSchema: &jsonschema.Schema{
			Type:       "object",
			Properties: map[string]*jsonschema.Schema{"nights": {Type: "integer", Title: "Nights"}},
			Required:   []string{"nights"},
		},
	}
}

func text(words string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: words}}}
}

func booked(city string, action string, content map[string]any) string {
	if action != "accept" {
		return "not booked: " + action
	}
	did("book %s for %v", city, content["nights"])
	return fmt.Sprintf("booked %s for %v", city, content["nights"])
}

func sdkServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "go-sdk", Version: "1"}, nil)
	push := func(ctx context.Context, request *mcp.CallToolRequest, in place) (*mcp.CallToolResult, any, error) {
		did("begin %s", in.City)
		answer, err := request.Session.Elicit(ctx, question(in.City))
		if err != nil {
			return nil, nil, err
		}
		return text(booked(in.City, answer.Action, answer.Content)), nil, nil
	}
	mcp.AddTool(server, &mcp.Tool{Name: "book", Description: "Asks by a push"}, push)
	mcp.AddTool(server, &mcp.Tool{
		Name: "look", Description: "Asks by a push, and changes nothing",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, push)
	mcp.AddTool(server, &mcp.Tool{Name: "rounds", Description: "Asks in rounds"},
		func(_ context.Context, request *mcp.CallToolRequest, in place) (*mcp.CallToolResult, any, error) {
			answer, ok := request.Params.InputResponses["nights"].(*mcp.ElicitResult)
			if !ok {
				did("begin %s", in.City)
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"nights": question(in.City)}}, nil, nil
			}
			return text(booked(in.City, answer.Action, answer.Content)), nil, nil
		})
	return server
}

func mark3Server() *mark3server.MCPServer {
	server := mark3server.NewMCPServer("mcp-go", "1", mark3server.WithElicitation())
	push := func(ctx context.Context, request mark3.CallToolRequest) (*mark3.CallToolResult, error) {
		city := request.GetString("city", "")
		did("begin %s", city)
		answer, err := server.RequestElicitation(ctx, mark3.ElicitationRequest{Params: mark3.ElicitationParams{
			Message: "How many nights in " + city + "?",
			RequestedSchema: map[string]any{
				"type":       "object",
				"properties": map[string]any{"nights": map[string]any{"type": "integer", "title": "Nights"}},
				"required":   []string{"nights"},
			},
		}})
		if err != nil {
			return nil, err
		}
		content, _ := answer.Content.(map[string]any)
		return mark3.NewToolResultText(booked(city, string(answer.Action), content)), nil
	}
	city := mark3.WithString("city", mark3.Required())
	server.AddTool(mark3.NewTool("book", mark3.WithDescription("Asks by a push"), city), push)
	server.AddTool(mark3.NewTool("look", mark3.WithDescription("Asks by a push, and changes nothing"), city,
		mark3.WithReadOnlyHintAnnotation(true)), push)
	return server
}

func serve(library, mode, port string) error {
	var handler http.Handler
	switch {
	case library == "sdk" && mode == "stdio":
		return sdkServer().Run(context.Background(), &mcp.StdioTransport{})
	case library == "sdk":
		options := &mcp.StreamableHTTPOptions{Stateless: mode == "stateless"}
		if mode == "events" {
			options.EventStore = mcp.NewMemoryEventStore(nil)
		}
		handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdkServer() }, options)
	case mode == "stdio":
		return mark3server.ServeStdio(mark3Server())
	default:
		handler = mark3server.NewStreamableHTTPServer(mark3Server(), mark3server.WithStateful(mode != "stateless"))
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "listening on", listener.Addr())
	return http.Serve(listener, mux)
}
