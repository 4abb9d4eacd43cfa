// A client. Calls come in as lines, questions and results go out.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"

	mark3client "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mark3 "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	lines  = bufio.NewReader(os.Stdin)
	output = json.NewEncoder(os.Stdout)
)

func tell(what string, value any) {
	if err := output.Encode(map[string]any{what: value}); err != nil {
		panic(err)
	}
}

type userAnswer struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content"`
	Trouble string         `json:"trouble"`
}

func askUser(mode, message, url string) (answer userAnswer, err error) {
	question := map[string]any{"mode": "form", "message": message}
	if mode == "url" {
		question = map[string]any{"mode": "url", "message": message, "url": url}
	}
	tell("asked", question)
	line, err := lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &answer)
	}
	if err == nil && answer.Trouble != "" {
		err = errors.New(answer.Trouble)
	}
	return answer, err
}

type callTool func(ctx context.Context, name string, arguments map[string]any) (any, error)

func runClient(library, lifecycle, url, token, shows string) error {
	connect := connectSdk
	if library == "mcp-go" {
		connect = connectMark3
	}
	ctx := context.Background()
	revision, call, err := connect(ctx, lifecycle, url, token, shows)
	if err != nil {
		return err
	}
	tell("ready", revision)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var wanted struct {
			Tool      string         `json:"tool"`
			Arguments map[string]any `json:"arguments"`
		}
		if err := json.Unmarshal(line, &wanted); err != nil {
			return err
		}
		if result, err := call(ctx, wanted.Tool, wanted.Arguments); err != nil {
			tell("trouble", err.Error())
		} else {
			tell("result", result)
		}
	}
}

type bearer string

func (token bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(request)
}

func connectSdk(ctx context.Context, lifecycle, url, token, shows string) (string, callTool, error) {
	options := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if shows != "" {
		options.Capabilities.Elicitation = &mcp.ElicitationCapabilities{}
		if strings.Contains(shows, "form") {
			options.Capabilities.Elicitation.Form = &mcp.FormElicitationCapabilities{}
		}
		if strings.Contains(shows, "url") {
			options.Capabilities.Elicitation.URL = &mcp.URLElicitationCapabilities{}
		}
		options.ElicitationHandler = func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			answer, err := askUser(request.Params.Mode, request.Params.Message, request.Params.URL)
			return &mcp.ElicitResult{Action: answer.Action, Content: answer.Content}, err
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1"}, options)
	wire := &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}}
	session, err := client.Connect(ctx, wire, &mcp.ClientSessionOptions{ProtocolVersion: revisions[lifecycle]})
	if err != nil {
		return "", nil, err
	}
	call := func(ctx context.Context, name string, arguments map[string]any) (any, error) {
		return session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	}
	return session.InitializeResult().ProtocolVersion, call, nil
}

// Without a revision each library tries the latest one first.
var revisions = map[string]string{"initialize": "2025-11-25"}

type mark3User struct{}

func (mark3User) Elicit(_ context.Context, request mark3.ElicitationRequest) (*mark3.ElicitationResult, error) {
	answer, err := askUser(request.Params.Mode, request.Params.Message, request.Params.URL)
	if err != nil {
		return nil, err
	}
	response := mark3.ElicitationResponse{Action: mark3.ElicitationResponseAction(answer.Action)}
	if answer.Content != nil {
		response.Content = answer.Content
	}
	return &mark3.ElicitationResult{ElicitationResponse: response}, nil
}

func connectMark3(ctx context.Context, lifecycle, url, token, shows string) (string, callTool, error) {
	headers := map[string]string{"Authorization": "Bearer " + token}
	wire, err := transport.NewStreamableHTTP(url, transport.WithHTTPHeaders(headers))
	if err != nil {
		return "", nil, err
	}
	var options []mark3client.ClientOption
	if shows != "" {
		elicitation := &mark3.ElicitationCapability{}
		if strings.Contains(shows, "form") {
			elicitation.Form = &struct{}{}
		}
		if strings.Contains(shows, "url") {
			elicitation.URL = &struct{}{}
		}
		options = append(options,
			mark3client.WithElicitationHandler(mark3User{}),
			mark3client.WithClientCapabilities(mark3.ClientCapabilities{Elicitation: elicitation}))
	}
	client := mark3client.NewClient(wire, options...)
	if err := client.Start(ctx); err != nil {
		return "", nil, err
	}
	request := mark3.InitializeRequest{}
	request.Params.ProtocolVersion = revisions[lifecycle]
	request.Params.ClientInfo = mark3.Implementation{Name: "mcp-go", Version: "1"}
	ready, err := client.Initialize(ctx, request)
	if err != nil {
		return "", nil, err
	}
	call := func(ctx context.Context, name string, arguments map[string]any) (any, error) {
		request := mark3.CallToolRequest{}
		request.Params.Name, request.Params.Arguments = name, arguments
		return client.CallTool(ctx, request)
	}
	return ready.ProtocolVersion, call, nil
}
