/**
 * All names of exported attributes and events. Those of the GenAI and MCP conventions still change, so they are only used
 * from here. Those of questions are our own.
 */
export const genAi = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  agent: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  model: 'gen_ai.request.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  tool: 'gen_ai.tool.name',
  toolCall: 'gen_ai.tool.call.id',
} as const;

/** From the draft for paused agents: events on the spans of phases. */
export const pauses = {
  paused: 'gen_ai.agent.paused',
  resumed: 'gen_ai.agent.resumed',
  execution: 'gen_ai.agent.execution.id',
  pause: 'gen_ai.agent.pause.id',
  reason: 'gen_ai.agent.pause.reason',
  resumedFrom: 'gen_ai.agent.resumed_from.id',
  resumedFromType: 'gen_ai.agent.resumed_from.type',
} as const;

/** Without the session id, which would let its reader use the session. */
export const mcp = { method: 'mcp.method.name', protocol: 'mcp.protocol.version' } as const;

/** The same names as in log lines. */
export const question = {
  id: 'elicitationId',
  toolCall: 'toolId',
  tool: 'toolName',
  server: 'server',
  credential: 'credentialType',
  trigger: 'trigger',
  mode: 'mode',
  path: 'path',
  user: 'userId',
  /** In milliseconds. */
  duration: 'duration',
  outcome: 'outcome',
  because: 'because',
  /** ISO 8601. */
  deadline: 'deadline',
} as const;

export const own = {
  turn: 'interlude.turn.id',
  tenant: 'interlude.tenant',
  status: 'interlude.turn.status',
  step: 'interlude.step',
  attempt: 'interlude.attempt',
  result: 'interlude.tool.result',
  effect: 'interlude.effect',
  /** Kind of a link. */
  link: 'interlude.link',
} as const;

export const http = {
  method: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
  server: 'server.address',
  port: 'server.port',
} as const;

export const errorType = 'error.type';
/** The error type of a tool that reports an error itself, by MCP's convention. */
export const toolError = 'tool_error';

/** For our spans and those of libraries. */
export const exportedNames: ReadonlySet<string> = new Set([
  ...[genAi, pauses, mcp, question, own, http].flatMap((names) => Object.values(names)),
  errorType,
]);
