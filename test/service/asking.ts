/** The service with one server that asks, and how people answer it. */
import { fileURLToPath } from 'node:url';
import type { ElicitationData } from './chat-stream.ts';
import type { ChatStream } from './chat-stream.ts';
import { startService } from './service.ts';
import type { Service, ServiceOptions } from './service.ts';
import type { Caller, Reply } from './user.ts';

const agentsFile = fileURLToPath(new URL('../fixtures/asking-agents.yaml', import.meta.url));

/** The settings for the server at this address. It is called `asking`, its title is "Asking". */
export const askingEnv = (url: string) => ({ INTERLUDE_CONFIG: agentsFile, ASKING_URL: url });

export function startAsking(options: ServiceOptions & { url: string }): Promise<Service> {
  const { url, env, ...rest } = options;
  return startService({ ...rest, env: { ...askingEnv(url), ...env } });
}

/** The prompt that makes the scripted model call these tools at once. */
export function callOf(...calls: [tool: string, input?: object][]): string {
  return calls.map(([tool, input = {}]) => `call asking__${tool} ${JSON.stringify(input)}`).join('\n');
}

export type AskedForm = ElicitationData & { requestedSchema: Record<string, unknown> };

/** The questions so far, each in its latest state. */
export function questionsIn({ chunks }: ChatStream): ElicitationData[] {
  const latest = new Map<string, ElicitationData>();
  for (const { type, data } of chunks) {
    if (type !== 'data-elicitation-request') continue;
    const question = data as ElicitationData;
    latest.set(question.elicitationId, question);
  }
  return [...latest.values()];
}

/** The nth question of the stream (from 0), as it opened. */
export async function nthQuestion(stream: ChatStream, n: number): Promise<AskedForm> {
  await stream.until(() => questionsIn(stream).length > n);
  return questionsIn(stream)[n] as AskedForm;
}

export interface Response {
  action: string;
  content?: object;
  remember?: string;
  reason?: string;
}

export function respond(
  caller: Caller,
  conversationId: string,
  { elicitationId }: Pick<ElicitationData, 'elicitationId'>,
  response: Response,
): Promise<Reply> {
  return caller.request('POST', '/run/api/elicitation-responses', {
    conversationId,
    elicitationId,
    ...response,
  });
}
