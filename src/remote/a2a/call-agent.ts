/**
 * One round of a task at a remote agent: it is sent or answered, and followed until it ends or asks something. The id of a
 * task is stored before the task is waited for; from then on it is only followed, so no task is sent twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { SendMessageRequest, StreamResponse, Task, TaskStatus } from '@a2a-js/sdk';
import type { ServerConfig } from '../../platform/config/config.ts';
import { cannotAsk } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Credential } from '../../credentials/credential-store.ts';
import { sendBestEffort } from '../best-effort.ts';
import { startDeadline } from '../deadline.ts';
import type { Deadline } from '../deadline.ts';
import type { AskedByTask, RemoteTask, ServerQuestion } from '@interlude-ai/core/mcp/input-required.ts';
import { outcomeWith } from '../network-failure.ts';
import { nameOf } from '../server-name.ts';
import type { CallOutcome, Continuation, ListOutcome, ToolCall } from '../remote-servers.ts';
import { cancelTask, followTask, isNews, readUntilNews } from './follow-task.ts';
import type { Followed } from './follow-task.ts';
import { connectAgent } from './connect.ts';
import type { Cards, ConnectedAgent, Target } from './connect.ts';
import { answerRequest, fingerprintOf, isAsking, readStatus, taskRequest } from './messages.ts';
import { isGone, outcomeOfFailure, outcomeOfMessage, outcomeOfTask } from './outcome.ts';

interface AgentCall {
  agent: ConnectedAgent;
  call: ToolCall;
  /** Absent until the agent has named it. */
  task?: RemoteTask;
}

/** How long a login may take before the user is asked whether it is done. */
const loginMs = 20_000;
/** How long to wait for the effect of an answer that an earlier attempt may have sent. */
const settlingMs = 3_000;

export async function callAgent(
  server: ServerConfig,
  credential: Credential,
  call: ToolCall,
  cards: Cards,
): Promise<CallOutcome> {
  using deadline = startDeadline(server.timeout, call.signal);
  const { signal } = deadline;
  const agent = await connectAgent({ server, credential, signal, cards, onSending: call.onSent });
  if (agent.kind !== 'connected') return agent;
  const resume = call.continuation?.resume;
  const here: AgentCall = { agent, call, ...(resume?.kind === 'task' && { task: resume.task }) };
  let outcome: CallOutcome;
  try {
    outcome = await (call.continuation ? continueCall(here, call.continuation) : begin(here));
  } catch (error) {
    if (!signal.aborted) throw error;
    outcome = outcomeOfAbort(here, deadline);
  }
  // As with MCP: an HTML page refuses the account only if other requests get one, too.
  if (outcome.kind === 'refused' && outcome.otherwise?.kind === 'unknown') {
    const tried = await tryCredential({ server, credential, signal, cards });
    if (tried.kind !== 'refused') outcome = outcome.otherwise;
  }
  if (outcome.kind === 'unreachable') cards.drop(server);
  if (mayStillWork(outcome) && here.task && !isHandedOn(here, deadline))
    void sendBestEffort(cancelTask({ server, credential, cards }, here.task));
  return outcome;
}

async function begin(here: AgentCall): Promise<CallOutcome> {
  const { agent, call } = here;
  const sent = await send(here, taskRequest(call));
  if (sent.kind === 'outcome') return sent.outcome;
  if (sent.status && isNews(sent.status, { answered: undefined })) return read(here, sent.status);
  return conclude(here, await followTask(agent, following(here, undefined)));
}

async function continueCall(here: AgentCall, { answers }: Continuation): Promise<CallOutcome> {
  const { agent, call, task } = here;
  const asked = task?.asked;
  const [answer] = answers;
  if (!task || !asked || !answer) return conclude(here, await followTask(agent, following(here, undefined)));
  const request = answerRequest(call, task, asked, answer);
  if (request === null && asked.elicitationId === undefined) return followLogin(here, task, asked);
  if (request === null || !(await isStillAsked(here, task, asked)))
    return conclude(here, await followTask(agent, following(here, asked.fingerprint)));
  const sent = await send(here, request, asked.fingerprint);
  if (sent.kind === 'outcome') return sent.outcome;
  if (sent.status && isNews(sent.status, { answered: asked.fingerprint })) return read(here, sent.status);
  return conclude(here, await followTask(agent, following(here, asked.fingerprint)));
}

/**
 * The user has agreed to open a link. Most agents notice by themselves when the login is done. Others wait for a message,
 * which is sent once the user confirms it.
 */
async function followLogin(here: AgentCall, task: RemoteTask, asked: AskedByTask): Promise<CallOutcome> {
  const { agent, call } = here;
  const waiting = AbortSignal.timeout(Math.min(loginMs, agent.server.timeout / 2));
  const signal = AbortSignal.any([waiting, ...(agent.options.signal ? [agent.options.signal] : [])]);
  try {
    const options = call.capabilities?.form === true ? { ...agent.options, signal } : agent.options;
    return conclude(here, await followTask({ ...agent, options }, following(here, asked.fingerprint)));
  } catch (error) {
    if (!waiting.aborted || agent.options.signal?.aborted) throw error;
  }
  const message = `${nameOf(agent.server)} still waits for you to finish on the page that you opened. Is it done?`;
  const question: ServerQuestion = {
    key: `${asked.fingerprint}/done`,
    request: { mode: 'form', message, requestedSchema: { type: 'object', properties: {} } },
    trigger: 'a2a_auth_required',
  };
  const resume = { kind: 'task' as const, task: { ...task, asked: { ...asked, mode: 'form' as const } } };
  return { kind: 'asks', pause: { questions: [question], resume } };
}

/** The agent would take an answer to a question that it no longer asks for something else. */
async function isStillAsked(
  { agent, call }: AgentCall,
  task: RemoteTask,
  asked: AskedByTask,
): Promise<boolean> {
  const waitUntil = Date.now() + (call.mayBeSent ? settlingMs : 0);
  for (;;) {
    const now = await agent.client
      .getTask({ tenant: '', id: task.taskId, historyLength: 0 }, agent.options)
      .catch(() => null);
    // If the read failed, following the task shows why.
    if (!now?.status || !isAsking(now.status) || fingerprintOf(now.status) !== asked.fingerprint)
      return false;
    if (Date.now() >= waitUntil) return true;
    await sleep(300, undefined, { signal: agent.options.signal });
  }
}

/** `status`: a question or an end in the direct answer; null when the task has to be read. */
type Sent = { kind: 'sent'; status: TaskStatus | null } | { kind: 'outcome'; outcome: CallOutcome };

async function send(here: AgentCall, request: SendMessageRequest, answered?: string): Promise<Sent> {
  const { agent, call } = here;
  const { client, options, isStreaming } = agent;
  try {
    if (!isStreaming) {
      const result = await client.sendMessage(request, options);
      if ('messageId' in result) return ended(outcomeOfMessage(nameOf(agent.server), result));
      if (!(await keep(here, result))) return callEnded;
      return { kind: 'sent', status: null };
    }
    const stream = client.sendMessageStream(request, options);
    const first = await stream.next();
    if (first.done) return ended(outcomeOfFailure(agent, undefined));
    const { payload } = first.value;
    if (payload?.$case === 'message') return ended(outcomeOfMessage(nameOf(agent.server), payload.value));
    const begun = payload?.$case === 'task' ? payload.value : null;
    if (begun && !(await keep(here, begun))) return callEnded;
    return { kind: 'sent', status: await restOf(first.value, stream, answered, call) };
  } catch (error) {
    options.signal?.throwIfAborted();
    // The agent has accepted the task, so it is followed after any failure.
    if (here.task && !isRefusal(agent, error)) return { kind: 'sent', status: null };
    return ended(outcomeOfFailure(agent, error));
  }
}

async function restOf(
  first: StreamResponse,
  stream: AsyncGenerator<StreamResponse, void, undefined>,
  answered: string | undefined,
  listener: ToolCall,
): Promise<TaskStatus | null> {
  async function* all() {
    yield first;
    yield* stream;
  }
  const status = await readUntilNews(all(), { answered, listener }).catch(() => null);
  // A question is used as it arrives: only this stream says what was wrong with an answer. Ends are read again, to get all
  // artifacts.
  return status && isAsking(status) ? status : null;
}

/** Whether an error ends the call after an answer was sent: only a refusal does. */
function isRefusal(agent: ConnectedAgent, error: unknown): boolean {
  const { kind } = outcomeOfFailure(agent, error);
  return kind === 'refused' || kind === 'rejected' || isGone(error);
}

async function keep(here: AgentCall, { id, contextId }: Task): Promise<boolean> {
  if (here.task) return true;
  here.task = { taskId: id, contextId };
  return (await here.call.keepTask?.(here.task)) ?? true;
}

function conclude(here: AgentCall, followed: Followed): CallOutcome {
  if (followed.kind === 'outcome') return followed.outcome;
  const { task, status } = followed;
  return isAsking(status) ? read(here, status) : outcomeOfTask(nameOf(here.agent.server), task);
}

function read({ agent, call, task }: AgentCall, status: TaskStatus): CallOutcome {
  const name = nameOf(agent.server);
  const found = readStatus(status, call.capabilities ?? cannotAsk);
  if (found.kind === 'refused' || !task) {
    const why = (found.kind === 'refused' ? found.reason : 'it asks without a task').replace(/\.$/, '');
    return { kind: 'unaskable', failure: { code: 'unaskable', why, server: name, isTask: true } };
  }
  const resume = { kind: 'task', task: { ...task, asked: found.asked } } as const;
  return { kind: 'asks', pause: { questions: [found.question], resume } };
}

function following({ call, task }: AgentCall, answered: string | undefined) {
  return { taskId: task?.taskId ?? '', answered, listener: call };
}

function ended(outcome: CallOutcome): Sent {
  return { kind: 'outcome', outcome };
}

const callEnded: Sent = {
  kind: 'outcome',
  outcome: outcomeWith('unknown', { code: 'call_ended', server: '' }),
};

function outcomeOfAbort({ agent, task }: AgentCall, { end }: Deadline): CallOutcome {
  const server = nameOf(agent.server);
  if (end === 'cancelled') return outcomeWith('unknown', { code: 'task_cancelled', server });
  const seconds = agent.server.timeout / 1000;
  if (task) return outcomeWith('unknown', { code: 'task_stopped', server, seconds });
  return outcomeWith(agent.last()?.isSent ? 'unknown' : 'unreachable', {
    code: 'task_timeout',
    server,
    seconds,
  });
}

/** The call has ended here, but the agent does not know it. */
function mayStillWork({ kind }: CallOutcome): boolean {
  return kind === 'unknown' || kind === 'unaskable';
}

function isHandedOn({ call }: AgentCall, { end }: Deadline): boolean {
  return end === 'cancelled' && call.isHandedOn?.() === true;
}

/**
 * Whether a remote agent accepts a credential. An agent has no list of tools to read, so it is asked for a task that does not
 * exist.
 */
export async function tryCredential(target: Target): Promise<ListOutcome> {
  using deadline = startDeadline(Math.min(target.server.timeout, 30_000), target.signal);
  const agent = await connectAgent({ ...target, signal: deadline.signal });
  if (agent.kind !== 'connected') return agent;
  try {
    await agent.client.getTask({ tenant: '', id: randomUUID(), historyLength: 0 }, agent.options);
  } catch (error) {
    const outcome = outcomeOfFailure(agent, error);
    if (outcome.kind === 'refused' || outcome.kind === 'unreachable') return outcome;
    if (outcome.kind === 'unknown') return { ...outcome, kind: 'unreachable' };
  }
  return { kind: 'tools', tools: [], leftOut: [], audience: 'tenant', freshMs: null };
}
