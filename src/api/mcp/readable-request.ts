/**
 * What MCP clients of both eras send us, read before the SDK, which refuses a request for one member that is null.
 * Null counts as absent, and members that JSON-RPC does not have are left out; the arguments of a tool and the content of an
 * answer are data and stay as they are.
 */
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { allPresent, isRecord, presentMembers } from '../../elicitation/form/schema-keywords.ts';

type Members = Record<string, unknown>;

/** What is no message stays as it is, and is refused. */
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

/** In the new era each request declares in it what its client can do. */
function withMeta({ _meta: meta, ...rest }: Members): Members {
  if (!isRecord(meta)) return rest;
  const declared = CLIENT_CAPABILITIES_META_KEY in meta && {
    [CLIENT_CAPABILITIES_META_KEY]: allPresent(meta[CLIENT_CAPABILITIES_META_KEY]),
  };
  return { ...rest, _meta: { ...presentMembers(meta), ...declared } };
}
