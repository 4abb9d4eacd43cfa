/**
 * All names of attributes and events that are exported. Those of the GenAI and MCP conventions are still in development and
 * change, so they are only in this file. Those of questions are the product's own.
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

/** Of the draft for paused agents: events on the spans of phases. */
export const pauses = {
  paused: 'gen_ai.agent.paused',
  resumed: 'gen_ai.agent.resumed',
  execution: 'gen_ai.agent.execution.id',
  pause: 'gen_ai.agent.pause.id',
  reason: 'gen_ai.agent.pause.reason',
  resumedFrom: 'gen_ai.agent.resumed_from.id',
  resumedFromType: 'gen_ai.agent.resumed_from.type',
} as const;

/** The id of an MCP session lets its holder speak in it, so it is not among them. */
export const mcp = { method: 'mcp.method.name', protocol: 'mcp.protocol.version' } as const;

/** As log lines name them. */
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
  /** Of a link: what it leads to. */
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
/** The error type of a tool that reports that it has failed, by MCP's convention. */
export const toolError = 'tool_error';

/** Of attributes and events, of our spans and those of libraries. */
export const exportedNames: ReadonlySet<string> = new Set([
  ...[genAi, pauses, mcp, question, own, http].flatMap((names) => Object.values(names)),
  errorType,
]);
