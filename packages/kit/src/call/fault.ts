/** A breach of the specification by a server: one sentence, and the clause. */

export interface Fault {
  /** One sentence, about the server. */
  message: string;
  clause: Clause;
}

/** `text` is the rule in a few words, `url` where it is written. Null for this client's own rules. */
export interface Clause {
  text: string;
  url: string | null;
}

const site = 'https://modelcontextprotocol.io/specification';
const modern = `${site}/2026-07-28`;
const legacy = `${site}/2025-11-25`;

export const clauses = {
  inputRequests: {
    text: 'inputRequests is a map from keys to requests (Multi Round-Trip Requests, Core Types)',
    url: `${modern}/basic/patterns/mrtr#inputrequests`,
  },
  inputRequired: {
    text: 'a result that asks has the resultType "input_required" and at least one of inputRequests and requestState, a string (Multi Round-Trip Requests, Server Requirements)',
    url: `${modern}/basic/patterns/mrtr#server-requirements-basic-workflow`,
  },
  undeclared: {
    text: 'servers must not ask for what the client has not declared (Multi Round-Trip Requests, Server Requirements)',
    url: `${modern}/basic/patterns/mrtr#server-requirements-basic-workflow`,
  },
  noServerRequests: {
    text: 'since 2026-07-28 servers send no requests: they ask with a result (Multi Round-Trip Requests)',
    url: `${modern}/basic/patterns/mrtr`,
  },
  urlRequiredRemoved: {
    text: 'the error -32042 must not be used since 2026-07-28',
    url: `${modern}/client/elicitation`,
  },
  urlRequired: {
    text: 'the error -32042 names its pages in data.elicitations, each with an elicitationId (Elicitation, URL Elicitation Required Error)',
    url: `${legacy}/client/elicitation#url-elicitation-required-error`,
  },
  resultType: {
    text: 'a result says what it is in resultType; the client knows "complete" and "input_required" (Base Protocol, Responses)',
    url: `${modern}/basic#responses`,
  },
  toolResult: {
    text: 'the result of a tool has a list "content" (Tools, Calling Tools)',
    url: `${modern}/server/tools#calling-tools`,
  },
  outputSchema: {
    text: 'a tool with an output schema must return structuredContent that fits it (Tools, Output Schema)',
    url: `${modern}/server/tools#output-schema`,
  },
  requestedSchema: {
    text: 'a form asks for flat fields only: strings, numbers, booleans and choices (Elicitation, Requested Schema)',
    url: `${modern}/client/elicitation#requested-schema`,
  },
  url: {
    text: 'the url of a page must be complete and hold no credentials (Elicitation, URL Mode)',
    url: `${modern}/client/elicitation#url-mode-elicitation-requests`,
  },
  elicitationId: {
    text: 'a url question of 2025-11-25 has an elicitationId (Elicitation, URL Mode)',
    url: `${legacy}/client/elicitation#url-mode-elicitation-requests`,
  },
  question: {
    text: 'a question has a message and, by its mode, a requestedSchema or a url (Elicitation)',
    url: `${modern}/client/elicitation`,
  },
  answered: {
    text: 'every request gets a response (Base Protocol, Responses)',
    url: `${modern}/basic#responses`,
  },
  toolList: {
    text: 'each tool has a name and an inputSchema of "type": "object" (Tools, Tool)',
    url: `${modern}/server/tools#tool`,
  },
  strayOutput: {
    text: 'a server writes nothing to its standard output that is no message (Transports, stdio)',
    url: `${modern}/basic/transports#stdio`,
  },
  handshake: {
    text: 'a server answers server/discover (2026-07-28) or initialize (before)',
    url: `${modern}/basic/versioning`,
  },
} satisfies Record<string, Clause>;

/** A limit of this client, not of the specification. */
export function ownLimit(text: string): Clause {
  return { text, url: null };
}
