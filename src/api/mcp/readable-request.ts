/**
 * Repairs the messages of MCP clients of both eras before the SDK sees them, which refuses a request because of one null member.
 * Null counts as absent, and members that JSON-RPC does not have are dropped. Arguments of tools and contents of answers are data
 * and stay unchanged.
 */
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { allPresent, isRecord, presentMembers } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';

type Members = Record<string, unknown>;

/** Other values are returned unchanged, and refused later. */
export function readableRequest(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { jsonrpc, method, params, result, error } = presentMembers(body);
  const { id } = body;
  // A request whose id is null cannot be answered, and is refused.
  const isNotification = typeof method === 'string' && method.startsWith('notifications/');
  return {
    jsonrpc,
    ...(id !== undefined && !(id === null && isNotification) && { id }),
    ...presentMembers({ method, error }),
    ...(params !== undefined && { params: isRecord(params) ? readableParams(params, method) : params }),
    ...(result !== undefined && { result: isRecord(result) ? withMeta(presentMembers(result)) : result }),
  };
}

function readableParams(params: Members, method: unknown): Members {
  const { inputResponses, ...rest } = withMeta(presentMembers(params));
  return {
    ...rest,
    ...(method === 'initialize' && { capabilities: allPresent(rest['capabilities']) }),
    ...(method === 'initialize' &&
      isRecord(rest['clientInfo']) && { clientInfo: presentMembers(rest['clientInfo']) }),
    ...(inputResponses !== undefined && { inputResponses: readableAnswers(inputResponses) }),
  };
}

function readableAnswers(answers: unknown): unknown {
  if (!isRecord(answers)) return answers;
  const entries = Object.entries(answers).map(([key, answer]) => [
    key,
    isRecord(answer) ? withMeta(presentMembers(answer)) : answer,
  ]);
  return Object.fromEntries(entries);
}

/** In the new era it declares what the client can do, in each request. */
function withMeta({ _meta: meta, ...rest }: Members): Members {
  if (!isRecord(meta)) return rest;
  const declared = CLIENT_CAPABILITIES_META_KEY in meta && {
    [CLIENT_CAPABILITIES_META_KEY]: allPresent(meta[CLIENT_CAPABILITIES_META_KEY]),
  };
  return { ...rest, _meta: { ...presentMembers(meta), ...declared } };
}
