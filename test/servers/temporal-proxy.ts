/**
 * A proxy between workers and Temporal that decides for each task: it passes on what a worker gets or reports, or loses it as
 * if the worker died at that moment.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import type { ClientHttp2Session, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';

const wire = temporal.api.workflowservice.v1;

/** A workflow task, or a task of an activity that is no local one. */
export interface Task {
  kind: 'workflow' | 'activity';
  workflowId: string;
  /** Of the workflow, or of the activity. */
  type: string;
  attempt: number;
  /** The same in each attempt. */
  key: string;
}

/**
 * `lost`: it does not reach the server, which learns of the loss at once instead of by a timeout. `unheard`: it reaches the
 * server, but the worker hears that the task is unknown, so it forgets the workflow. `dead`: the test has killed the worker;
 * neither side hears anything.
 */
export type Fate = 'pass' | 'lost' | 'unheard' | 'dead';

export interface Fates {
  /** A worker is about to be handed a task. */
  handOver?(task: Task): Fate | Promise<Fate>;
  /** A worker reports that it has done one. */
  report?(task: Task): Fate | Promise<Fate>;
}

interface Answer {
  headers: IncomingHttpHeaders;
  trailers: IncomingHttpHeaders;
  body: Buffer;
}

type WorkflowTask = temporal.api.workflowservice.v1.IPollWorkflowTaskQueueResponse;
type ActivityTask = temporal.api.workflowservice.v1.IPollActivityTaskQueueResponse;

const service = '/temporal.api.workflowservice.v1.WorkflowService/';
const notFound = { 'grpc-status': '5', 'grpc-message': 'the worker that had this task is gone' };

export async function startTemporalProxy(
  { address, client }: { address: string; client: Client },
  fates: Fates,
): Promise<{ address: string; stop(): Promise<void> }> {
  const far = connect(`http://${address}`);
  far.on('error', () => undefined);
  const tasks = new Map<string, Task>();
  const server = createServer();
  const near = new Set<{ destroy(): void }>();
  server.on('session', (session) => {
    near.add(session);
    session.on('error', () => undefined);
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    void handle(stream, headers).catch(() => stream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  async function handle(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    const path = String(headers[':path']);
    const body = await bytesOf(stream);
    switch (path.slice(service.length)) {
      case 'PollWorkflowTaskQueue': {
        const answer = await ask(far, headers, body, stream);
        const task = wire.PollWorkflowTaskQueueResponse.decode(messageIn(answer.body));
        const isHandedOver = task.query ? true : await handOver('workflow', task);
        return reply(stream, isHandedOver ? answer : empty(answer));
      }
      case 'PollActivityTaskQueue': {
        const answer = await ask(far, headers, body, stream);
        const task = wire.PollActivityTaskQueueResponse.decode(messageIn(answer.body));
        const isHandedOver = await handOver('activity', task);
        return reply(stream, isHandedOver ? answer : empty(answer));
      }
      case 'RespondWorkflowTaskCompleted': {
        const { taskToken } = wire.RespondWorkflowTaskCompletedRequest.decode(messageIn(body));
        return report(stream, headers, body, taskToken);
      }
      case 'RespondActivityTaskCompleted': {
        const { taskToken } = wire.RespondActivityTaskCompletedRequest.decode(messageIn(body));
        return report(stream, headers, body, taskToken);
      }
      default:
        return reply(stream, await ask(far, headers, body, stream));
    }
  }

  /** False: the worker is not to have it. */
  async function handOver(kind: Task['kind'], given: WorkflowTask | ActivityTask): Promise<boolean> {
    const token = given.taskToken ?? new Uint8Array();
    if (token.length === 0) return true;
    const task = taskOf(kind, given);
    tasks.set(keyOf(token), task);
    const fate = (await fates.handOver?.(task)) ?? 'pass';
    if (fate === 'lost') await lose(task, token);
    return fate === 'pass';
  }

  async function report(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    body: Buffer,
    token: Uint8Array,
  ): Promise<void> {
    const task = tasks.get(keyOf(token));
    const fate = (task && (await fates.report?.(task))) ?? 'pass';
    switch (fate) {
      case 'pass': {
        const answer = await ask(far, headers, body, stream);
        return reply(stream, task?.kind === 'workflow' ? await passOn(answer, handOver) : answer);
      }
      case 'lost':
        if (task) await lose(task, token);
        return refuse(stream);
      case 'unheard': {
        const answer = await ask(far, headers, body, stream);
        // What came along for the worker goes with it.
        if (task?.kind === 'workflow')
          await passOn(answer, (kind, given) => lose(taskOf(kind, given), given.taskToken));
        return refuse(stream);
      }
      case 'dead':
        return void stream.destroy();
      default:
        return fate satisfies never;
    }
  }

  /** The answer to a workflow task may come with the next one, and with activities: without those that `takes` refuses. */
  async function passOn(
    answer: Answer,
    takes: (kind: Task['kind'], given: WorkflowTask | ActivityTask) => Promise<boolean>,
  ): Promise<Answer> {
    if (answer.body.length === 0) return answer;
    const along = wire.RespondWorkflowTaskCompletedResponse.decode(messageIn(answer.body));
    const { workflowTask, activityTasks } = along;
    if (workflowTask && !(await takes('workflow', workflowTask))) along.workflowTask = null;
    along.activityTasks = [];
    for (const task of activityTasks) if (await takes('activity', task)) along.activityTasks.push(task);
    const message = wire.RespondWorkflowTaskCompletedResponse.encode(along).finish();
    const { 'grpc-encoding': _, ...headers } = answer.headers;
    return { ...answer, headers, body: framed(Buffer.from(message)) };
  }

  /** False, as of one that the worker is not to have. */
  async function lose({ kind }: Task, taskToken: Uint8Array | null | undefined): Promise<false> {
    if (!taskToken) return false;
    const { workflowService, options } = client;
    const { namespace } = options;
    const failure = {
      message: 'its worker is gone',
      applicationFailureInfo: { type: 'Lost', nextRetryDelay: { nanos: 1_000_000 } },
    };
    const lost = { namespace, taskToken, failure };
    await (kind === 'workflow'
      ? workflowService.respondWorkflowTaskFailed(lost)
      : workflowService.respondActivityTaskFailed(lost));
    return false;
  }

  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    async stop() {
      for (const session of near) session.destroy();
      server.close();
      far.destroy();
    },
  };
}

function taskOf(kind: Task['kind'], given: WorkflowTask | ActivityTask): Task {
  const { workflowExecution, attempt } = given;
  const workflowId = workflowExecution?.workflowId ?? '';
  const isActivity = 'activityType' in given && given.activityType != null;
  const type = (isActivity ? given.activityType?.name : given.workflowType?.name) ?? '';
  const which =
    'activityId' in given ? given.activityId : String((given as WorkflowTask).previousStartedEventId);
  return { kind, workflowId, type, attempt: attempt ?? 1, key: `${workflowId} ${kind} ${which}` };
}

async function ask(
  far: ClientHttp2Session,
  headers: IncomingHttpHeaders,
  body: Buffer,
  stream: ServerHttp2Stream,
): Promise<Answer> {
  const { ':method': method, ':path': path, host: _, ...rest } = headers;
  const plain = Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith(':')));
  const request = far.request({ ':method': method, ':path': path, ...plain });
  // A worker that stops gives up its polls; one that is killed, too.
  stream.once('close', () => request.close());
  let trailers: IncomingHttpHeaders = {};
  request.on('trailers', (given: IncomingHttpHeaders) => (trailers = given));
  request.end(body);
  const [given] = (await once(request, 'response')) as [IncomingHttpHeaders];
  const answered = await bytesOf(request);
  return { headers: given, trailers, body: answered };
}

function reply(stream: ServerHttp2Stream, { headers, trailers, body }: Answer): void {
  if (stream.destroyed) return;
  stream.once('wantTrailers', () => stream.sendTrailers(trailers));
  stream.respond(headers, { waitForTrailers: true });
  stream.end(body);
}

function refuse(stream: ServerHttp2Stream): void {
  if (stream.destroyed) return;
  stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...notFound }, { endStream: true });
}

/** Iterating over it would destroy a stream that has still to be written to. */
async function bytesOf(stream: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part));
  await once(stream, 'end');
  return Buffer.concat(parts);
}

/** Of gRPC: one byte that says whether the message is compressed, four of its length. */
function messageIn(body: Buffer): Buffer {
  return body[0] === 1 ? gunzipSync(body.subarray(5)) : body.subarray(5);
}

function empty(answer: Answer): Answer {
  return { ...answer, body: framed(Buffer.alloc(0)) };
}

function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function keyOf(token: Uint8Array): string {
  return Buffer.from(token).toString('base64');
}
