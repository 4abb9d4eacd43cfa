/**
 * What went wrong with a server, as a code and the data of its sentence. Data are status numbers, error codes and names from the
 * agents file, so that no secret can get in; only `words` quotes the server. `server` is its title and host. Pure.
 */
export type ServerTrouble = { server: string } & (
  | { code: 'cancelled' | 'connection_ended' | 'session_lost' | 'busy' | 'not_mcp' | 'not_mcp_process' }
  | { code: 'timeout' | 'task_timeout' | 'task_stopped'; seconds: number }
  | { code: 'answer_too_large'; megabytes: number }
  | { code: 'unreadable_message'; method: string }
  | { code: 'redirected' | 'request_refused' | 'failing' | 'task_failing'; status: number }
  | { code: 'no_endpoint' }
  /** `remedy`: what an operator should check. */
  | { code: 'not_listening' | 'unknown_host' | 'connect_timeout'; remedy: 'url' | 'card' }
  | { code: 'not_reached'; error: string; remedy: 'url' | 'card' }
  | { code: 'connection_broken' }
  | { code: 'certificate'; error: string }
  | { code: 'command_not_found' | 'command_not_executable'; command: string }
  | { code: 'no_folder'; folder: string }
  | { code: 'user_not_permitted'; uid: number }
  | { code: 'not_started'; error: string }
  | { code: 'process_ended'; how: string }
  | { code: 'header_unsendable'; header: string; isTask?: true | undefined }
  | { code: 'other_era'; era: string; status: number }
  | { code: 'era_learned'; was: string; now: string }
  | { code: 'tools_not_listed' | 'call_failed'; error: number }
  | { code: 'too_many_tools'; tools: number; pages: number }
  | { code: 'call_refused' | 'task_refused'; words: string }
  | { code: 'unreadable_answer' | 'call_ended' | 'task_unknown' | 'task_cancelled' | 'task_end_unknown' }
  | { code: 'no_messages' | 'no_card'; status: number }
  | { code: 'card_late' | 'no_card_content' | 'no_interface' | 'other_host' }
  /** A tool in TypeScript. */
  | { code: 'execute_timeout'; seconds: number }
);

const checkCommand = 'The operator should check its command in the agents file.';
const checkUrl = 'The operator should check that it runs and that its url in the agents file is right.';
const checkCard = 'The operator should check that it runs and that its card in the agents file is right.';
const remedies = { url: checkUrl, card: checkCard };

/** For models and operators: what happened, and what an operator can do about it. */
export function troubleInWords(trouble: ServerTrouble): string {
  const remedy = remedyFor(trouble);
  return remedy === '' ? whatHappened(trouble) : `${whatHappened(trouble)} ${remedy}`;
}

function remedyFor(trouble: ServerTrouble): string {
  switch (trouble.code) {
    case 'not_mcp':
    case 'no_endpoint':
    case 'request_refused':
      return checkUrl;
    case 'not_mcp_process':
    case 'command_not_executable':
    case 'not_started':
      return checkCommand;
    case 'not_listening':
    case 'unknown_host':
    case 'connect_timeout':
    case 'not_reached':
      return remedies[trouble.remedy];
    case 'no_messages':
    case 'no_card':
    case 'no_card_content':
    case 'no_interface':
      return checkCard;
    case 'session_lost':
      return 'If this happens often, the operator should check that all processes of the server share their sessions.';
    case 'unreadable_message':
      return 'Its author should compare it with the specification of MCP.';
    case 'redirected':
      return 'The agents file should name the final url.';
    case 'certificate':
      return 'The operator should check it.';
    case 'command_not_found':
      return 'The operator should install it, or correct the command in the agents file.';
    case 'no_folder':
      return 'The operator should correct its cwd in the agents file.';
    case 'user_not_permitted':
      return 'The operator should run the worker as root, or remove uid and gid from the agents file.';
    case 'process_ended':
      return "The operator can read what it had to say in the worker's log.";
    case 'header_unsendable':
      return 'The operator should check headers and headersEnv in the agents file.';
    case 'other_era':
      return 'The operator should correct or remove it.';
    case 'other_host':
      return 'The operator can allow it with endpoint in the agents file.';
    default:
      return '';
  }
}

/** In English, for everyone. */
export function whatHappened(trouble: ServerTrouble): string {
  const { server } = trouble;
  switch (trouble.code) {
    case 'cancelled':
      return `The call to ${server} was cancelled.`;
    case 'timeout':
      return `${server} did not answer within ${trouble.seconds} s.`;
    case 'task_timeout':
      return `${server} was not done within ${trouble.seconds} s.`;
    case 'task_stopped':
      return `${server} was not done within ${trouble.seconds} s, and was told to stop.`;
    case 'answer_too_large':
      return `${server} sent an answer larger than ${trouble.megabytes} MB, which is not read any further.`;
    case 'connection_ended':
      return `${server} ended the connection before it had answered.`;
    case 'session_lost':
      return `${server} lost the session that the request belonged to (HTTP 404), as after a restart. Try again.`;
    case 'unreadable_message':
      return `${server} answered ${trouble.method} with a message that cannot be read.`;
    case 'not_mcp':
    case 'not_mcp_process':
      return `${server} did not answer like an MCP server.`;
    case 'redirected':
      return `${server} sent a redirect (HTTP ${trouble.status}) that is not followed.`;
    case 'no_endpoint':
      return `${server} has no MCP endpoint at this address (HTTP 404).`;
    case 'busy':
      return `${server} is receiving too many requests (HTTP 429). Try again later.`;
    case 'request_refused':
      return `${server} refused the request (HTTP ${trouble.status}).`;
    case 'failing':
      return `${server} is in trouble (HTTP ${trouble.status}). Try again later.`;
    case 'task_failing':
      return `${server} is in trouble (HTTP ${trouble.status}).`;
    case 'not_listening':
      return `${server} cannot be reached: nothing is listening there.`;
    case 'unknown_host':
      return `${server} cannot be reached: its host name is not known.`;
    case 'connect_timeout':
      return `${server} cannot be reached: it did not accept a connection in time.`;
    case 'connection_broken':
      return `${server} broke the connection off. Try again later.`;
    case 'certificate':
      return `${server} cannot be reached: its TLS certificate was not accepted (${trouble.error}).`;
    case 'not_reached':
      return `${server} cannot be reached${trouble.error && ` (${trouble.error})`}.`;
    case 'command_not_found':
      return `${server} cannot be started: command not found: ${trouble.command}.`;
    case 'command_not_executable':
      return `${server} cannot be started: ${trouble.command} may not be executed.`;
    case 'no_folder':
      return `${server} cannot be started: there is no folder ${trouble.folder}.`;
    case 'user_not_permitted':
      return `${server} cannot be started: the worker may not start programs as user ${trouble.uid}.`;
    case 'not_started':
      return `${server} cannot be started (${trouble.error}).`;
    case 'process_ended':
      return `${server} ended before it had answered (${trouble.how}).`;
    case 'header_unsendable':
      return `${server} was not ${trouble.isTask ? 'asked' : 'called'}: the value of its header "${trouble.header}" cannot be sent.`;
    case 'other_era':
      return `${server} does not speak MCP ${trouble.era} (HTTP ${trouble.status}), which its era in the agents file asks for.`;
    case 'era_learned':
      return `${server} had to ask the user something, which it cannot do in the MCP version it was called with (${trouble.was}). From now on it is called with ${trouble.now}, where it can: another call will ask.`;
    case 'tools_not_listed':
      return `${server} cannot list its tools (error ${trouble.error}).`;
    case 'too_many_tools':
      return `${server} lists more than ${trouble.tools} tools, 1 MB of descriptions or ${trouble.pages} pages, which is more than is read.`;
    case 'call_refused':
      return `${server} refused the call: ${trouble.words}`;
    case 'call_failed':
      return `${server} failed while it handled the call (error ${trouble.error}).`;
    case 'unreadable_answer':
      return `${server} answered in a form that cannot be read.`;
    case 'call_ended':
      return 'The call has ended.';
    case 'task_refused':
      return `${server} refused the request: ${JSON.stringify(trouble.words)}`;
    case 'task_unknown':
      return `${server} does not know its task any more.`;
    case 'task_cancelled':
      return `The task of ${server} was cancelled.`;
    case 'task_end_unknown':
      return `${server} ended the task in a state that is not known here.`;
    case 'no_messages':
      return `${server} does not take messages at this address (HTTP ${trouble.status}).`;
    case 'no_card':
      return `${server} gives no agent card (HTTP ${trouble.status}).`;
    case 'no_card_content':
      return `${server} sends something else than an agent card.`;
    case 'card_late':
      return `${server} did not send its agent card in time.`;
    case 'no_interface':
      return `${server} offers no way to talk to it that is known here: its agent card has to name JSONRPC of A2A 1.0 or 0.3, or HTTP+JSON of 1.0.`;
    case 'other_host':
      return `The agent card of ${server} sends messages to another host, where nothing is sent to.`;
    case 'execute_timeout':
      return `it did not end within ${trouble.seconds} seconds.`;
    default:
      return trouble satisfies never;
  }
}
