/** A token that expires while turns are under way. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { done } from '../servers/scripted-mcp-server.ts';
import type { ScriptedReply } from '../servers/scripted-mcp-server.ts';
import { answer } from '../servers/raw-mcp-server.ts';
import { callOf } from '../service/asking.ts';
import { useAskingService } from './asking-service.ts';

const setup = useAskingService();

describe('a token that expires while turns are under way', () => {
  const words = callOf(['ask']);
  const chat = { id: randomUUID(), messages: [{ role: 'user', parts: [{ type: 'text', text: words }] }] };
  const completion = { model: 'assistant', stream: true, messages: [{ role: 'user', content: words }] };
  const key = { 'idempotency-key': randomUUID() };
  const a2a = '/run/agents/assistant/a2a';
  const a2aVersion = { 'a2a-version': '1.0' };
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: words }] };
  const mcp = '/run/v1/mcp';
  const hello = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const ask = { name: 'ask_assistant', arguments: { message: words } };
  const askNow = {
    ...ask,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
  const asksNow = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': ask.name,
  };

  /** Sends a request, a POST if it has a body, and reads the response until it ends or is cut. */
  async function open(token: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const response = await fetch(setup.service.baseUrl + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    const conversation = response.headers.get('x-conversation-id');
    if (conversation !== null) setup.service.begun(conversation);
    return { headers: response.headers, all: readAll(response) };
  }

  async function readAll({ body }: Response): Promise<{ text: string; isCut: boolean }> {
    let text = '';
    try {
      for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) text += part;
      return { text, isCut: false };
    } catch {
      return { text, isCut: true };
    }
  }

  const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
  const resultIn = (text: string): Record<string, unknown> => {
    const [, data = '{}'] = /^data: (\{.*"result".*)$/m.exec(text) ?? [];
    return (JSON.parse(data) as { result?: Record<string, unknown> }).result ?? {};
  };

  test('every stream that it opened ends with it, and the same turns go on with a fresh token', async () => {
    const goOn = Promise.withResolvers<void>();
    const result = done();
    const waits: ScriptedReply = (call, response) =>
      void goOn.promise.then(() => answer(call, response, result));
    setup.server.play(...Array.from({ length: 5 }, () => waits));
    const fresh = await setup.service.token('alice');
    const begun = await open(fresh, mcp, rpc('initialize', hello));
    const session = {
      'mcp-session-id': begun.headers.get('mcp-session-id') ?? '',
      'mcp-protocol-version': hello.protocolVersion,
    };

    // Accepted for three seconds more at least.
    const ending = await setup.service.tokenUntil('alice', Math.floor(Date.now() / 1000) - 1);
    const opened = await Promise.all([
      open(ending, '/run/api/chat', chat),
      open(ending, '/run/v1/chat/completions', completion, key),
      open(ending, a2a, rpc('SendStreamingMessage', { message }), a2aVersion),
      open(ending, mcp, rpc('tools/call', ask), session),
      open(ending, mcp, rpc('tools/call', askNow), asksNow),
      open(ending, '/run/v1/elicitations/events'),
    ]);
    const [chatting, completing, task, call, callNow, questions] = await Promise.all(
      opened.map(({ all }) => all),
    );
    for (const cut of [chatting, task, call, questions]) expect(cut?.isCut).toBe(true);
    expect(completing).toMatchObject({
      isCut: false,
      text: expect.stringMatching(/"code":"turn_unfinished"[^\n]*\n\n$/),
    });
    const { resultType, requestState } = resultIn(callNow?.text ?? '');
    expect([callNow?.isCut, resultType]).toEqual([false, 'input_required']);

    const { id } = resultIn(task?.text ?? '')['task'] as { id: string };
    const lastId =
      call?.text
        .match(/^id: (.*)$/gm)
        ?.at(-1)
        ?.slice('id: '.length) ?? '';
    const again = await Promise.all([
      open(fresh, `/run/api/chat/${chat.id}/stream`),
      open(fresh, '/run/v1/chat/completions', completion, key),
      open(fresh, a2a, rpc('SubscribeToTask', { id }), a2aVersion),
      open(fresh, mcp, undefined, { ...session, 'last-event-id': lastId }),
      open(fresh, mcp, rpc('tools/call', { ...askNow, requestState }), asksNow),
    ]);
    goOn.resolve();
    for (const { all } of again) {
      const { text, isCut } = await all;
      expect(isCut).toBe(false);
      expect(text).toContain('done');
    }
    expect(setup.server.calls).toHaveLength(5);
  });
});
