/**
 * The account of a tool call: its credential, what happens when the server refuses it, the question that asks the user to
 * connect the account, and the tool `connect_<server>`.
 */
import { randomUUID } from 'node:crypto';
import { sleep } from '@temporalio/activity';
import { connectionKey } from '../../credentials/connection-key.ts';
import { operatorError } from '../../credentials/credential-store.ts';
import type {
  ConnectionRequired,
  Credential,
  Unrelated,
  CredentialStore,
} from '../../credentials/credential-store.ts';
import { connectionsAddress, questionAddress } from '@interlude-ai/core/elicitation/account-pages.ts';
import { canPresent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ConnectionReason } from '@interlude-ai/core/elicitation/elicitation.ts';
import { connectionMessage } from '@interlude-ai/core/elicitation/wording.ts';
import type { Refused } from '../../remote/remote-servers.ts';
import type { TimedQuestion } from '../../storage/tables/elicitations.ts';
import type { NewEvent } from '../../storage/log/append.ts';
import { aboutTurn } from '../../platform/telemetry/events.ts';
import type { AfterRefusal } from '../../platform/telemetry/metrics/instruments.ts';
import type { AccountRefusal } from '../../turn/call-failure.ts';
import type { AttemptResult } from '../../turn/step.ts';
import { asksOf, openQuestions, serverContext, turnOf } from '../questions.ts';
import { accountNotice } from '../tool-results.ts';
import { failCall, finishCall, recordEffect } from './attempt.ts';
import type { Attempt, AttemptEnd, CallParts } from './attempt.ts';
import type { AgentConfig, ServerConfig } from '../../platform/config/config.ts';
import { warningsAbout } from '@interlude-ai/core/elicitation/url-safety.ts';
import { serverRefused } from '../../platform/telemetry/metrics/instruments.ts';
import type { Turn } from '../../turn/turn.ts';
import { mayUse } from '../call-model/agent-tools.ts';
import type { AskingCall, Question, QuestionParts } from '../questions.ts';
import { stopSignal } from '../running-activity.ts';

/** A server that refused two new accounts for one call would refuse a third. */
const maxConnects = 2;

/**
 * Reports the refusal to the credential store, which returns a new credential or says that a person has to act. Where there
 * are no accounts, the operator has to.
 */
export async function rejectCredential(
  { storeOf }: CallParts,
  { server, input }: Attempt,
  { version, tokenId }: Credential,
  { status, challenge, otherwise }: Refused,
): Promise<Credential | ConnectionRequired | Unrelated> {
  if (server.credentialScope === 'none') {
    serverRefused(server.name, status, 'given_up');
    throw operatorError(server, 'service_refused', `HTTP ${status}; check headersEnv in the agents file`);
  }
  const refusal = {
    version,
    tokenId,
    status,
    challenge,
    isDoubtful: otherwise !== undefined,
  };
  return storeOf(server).reject(server, connectionKey(server, input.turn), refusal);
}

/** `isRenewed`: the refused credential had just replaced a refused one. */
export function afterRefusal(
  renewed: Credential | ConnectionRequired,
  { isRenewed }: { isRenewed: boolean },
): AfterRefusal {
  if (renewed.kind === 'connection-required') return 'connection_required';
  return isRenewed ? 'refused_again' : 'renewed';
}

/** Asks the user to connect the account. Operators connect accounts that the tenant shares, so users are not asked for these. */
export async function askForAccount(
  parts: CallParts,
  attempt: Attempt,
  required: ConnectionRequired,
): Promise<AttemptEnd> {
  const { input, server, connects } = attempt;
  const { turn, tool } = input;
  const { title } = server;
  if (server.credentialScope === 'project') return finishWithoutShared(parts, attempt, required.reason);
  const refused = (why: AccountRefusal, at?: string) =>
    ({ code: 'account', why, server: title, address: at }) as const;
  if (turn.user === null) return failCall(parts, attempt, 'not_asked', refused('no-user'));
  if (connects >= maxConnects) return failCall(parts, attempt, 'refused', refused('still-refused'));
  const address = connectionsAddress(parts.config.http.publicUrl);
  const refusal = await parts.storage.elicitations.refusalOf(turn, server.name);
  if (refusal !== null) return failCall(parts, attempt, refusal, refused(refusal, address));
  if (!canPresent('url', turn.capabilities))
    return failCall(parts, attempt, 'not_asked', refused('unsupported', address), {
      notice: notAskedNotice(parts, attempt, address),
    });
  const opened = await openQuestions(parts, input, [
    accountQuestion(parts, input, { server, tool }, required),
  ]);
  switch (opened.kind) {
    case 'opened': {
      const isRefused = opened.questions.some(
        ({ question }) => question.status !== 'pending' && question.status !== 'accept',
      );
      return asksOf(opened.questions, input.approval) ?? { kind: isRefused ? 'answered' : 'connected' };
    }
    case 'already-connected':
      return { kind: 'connected' };
    case 'over':
      return { kind: 'finished' };
    default:
      return failCall(parts, attempt, 'not_asked', refused(opened.kind));
  }
}

/** How many accounts were connected for the call with these questions. */
export function connectsOf(questions: TimedQuestion[]): number {
  return questions.filter(({ question }) => question.server !== null && question.status === 'accept').length;
}

/** The server refuses even a credential that was just renewed. */
export function stillRefused(parts: CallParts, attempt: Attempt): Promise<AttemptResult> {
  const { server } = attempt;
  if (server.credentialScope === 'project') return finishWithoutShared(parts, attempt, 'rejected');
  const failure = { code: 'account', why: 'still-refused', server: server.title } as const;
  return failCall(parts, attempt, 'refused', failure);
}

function finishWithoutShared(
  parts: CallParts,
  attempt: Attempt,
  reason: ConnectionReason,
): Promise<AttemptResult> {
  const { input, call, server } = attempt;
  parts.logger.warn(
    { ...aboutTurn(input.turn), server: server.name, reason },
    'a shared account is needed that cannot be used',
  );
  const account = { code: 'shared_account', reason, contact: server.contact } as const;
  const notice = accountNotice(call, server, account);
  return failCall(parts, attempt, 'not_asked', { ...account, server: server.title }, { notice });
}

/** Tells the person, whose client cannot show the question, where they can connect the account. */
function notAskedNotice(
  { storeOf }: CallParts,
  { input, call, server, known }: Attempt,
  address: string,
): NewEvent {
  const tool = known && input.tool !== null ? input.tool : undefined;
  const by = storeOf(server).connectedBy;
  return accountNotice(call, server, { code: 'account', tool, by }, address);
}

export type ResolvedCredential = Credential | ConnectionRequired;

const tries = 3;
const pauseMs = 500;

/**
 * `wasConnected`: whether an account was connected for this call. It may take a moment until the store shows it, so a
 * missing account is looked for again.
 */
export async function resolveCredential(
  store: CredentialStore,
  server: ServerConfig,
  turn: Turn,
  wasConnected: () => Promise<boolean>,
): Promise<ResolvedCredential> {
  const key = connectionKey(server, turn);
  let found = await store.resolve(server, key);
  for (let count = 0; count < tries && isMissing(found) && (await wasConnected()); count++) {
    await sleep(pauseMs);
    found = await store.resolve(server, key);
  }
  return found;
}

/** For best-effort work: null also if the store fails. */
export async function credentialOrNone(
  store: CredentialStore,
  server: ServerConfig,
  turn: Turn,
): Promise<Credential | null> {
  const found = await store.resolve(server, connectionKey(server, turn)).catch(() => null);
  return found?.kind === 'credential' ? found : null;
}

function isMissing(found: ResolvedCredential): boolean {
  return found.kind === 'connection-required' && found.reason === 'missing';
}

/** All calls of a turn that need the account share this question. `tool`: null if the server's tools are not known yet. */
export function accountQuestion(
  parts: QuestionParts,
  { turn, toolCallId }: AskingCall,
  { server, tool }: { server: ServerConfig; tool: string | null },
  { reason, seenVersion, scopes }: ConnectionRequired,
): Question {
  const { connectedBy, catchUp } = parts.storeOf(server);
  const id = randomUUID();
  const url = questionAddress(parts.config.http.publicUrl, id);
  const isPlainHttp = warningsAbout(url).includes('plain_http');
  const context = {
    ...serverContext(parts, turn, server),
    trigger: 'credential_required' as const,
    reason,
    ...(tool !== null && { toolName: tool }),
    toolCallId,
    ...(scopes && { scopes }),
    ...(isPlainHttp && { warnings: ['plain_http' as const] }),
  };
  const subject = { kind: 'connection' as const, turn: turnOf(turn), server: server.name, seenVersion };
  return {
    id,
    place: `account/${turn.turnId}/${server.name}/${seenVersion}`,
    request: {
      mode: 'url',
      message: connectionMessage(server.title, reason, tool ?? undefined, connectedBy),
      url,
      context,
    },
    account: { server: server.name, seenVersion },
    ...(catchUp && { poll: { id, subject, firstMs: 0 } }),
  };
}

/** The tool `connect_<server>`, once the account is connected: lists the server's tools for the next step. */
export async function listServerTools(
  parts: CallParts,
  attempt: Attempt,
  resolved: Credential,
): Promise<AttemptEnd> {
  const { server, input } = attempt;
  let credential = resolved;
  recordEffect(parts, attempt);
  for (let isRenewed = false; ; isRenewed = true) {
    const listed = await parts.catalogue.learn(input.turn, server, credential, stopSignal());
    switch (listed.kind) {
      case 'tools': {
        const names = listed.tools.map(({ name }) => name);
        const text = toText(server, parts.config.agents.get(input.turn.agent), names);
        return finishCall(parts, attempt, { content: [{ type: 'text', text }] });
      }
      case 'refused': {
        const renewed = await rejectCredential(parts, attempt, credential, listed);
        const isAgain = renewed.kind === 'credential' && isRenewed;
        if (renewed.kind === 'unrelated' || (isAgain && listed.otherwise))
          return failCall(parts, attempt, 'unreachable', {
            code: 'server_trouble',
            trouble: listed.otherwise?.trouble ?? { code: 'call_ended', server: server.title },
          });
        serverRefused(server.name, listed.status, afterRefusal(renewed, { isRenewed }));
        if (renewed.kind === 'connection-required') return askForAccount(parts, attempt, renewed);
        if (isRenewed) return stillRefused(parts, attempt);
        credential = renewed;
        continue;
      }
      case 'unreachable':
        return failCall(parts, attempt, 'unreachable', { code: 'server_trouble', trouble: listed.trouble });
      default:
        return listed satisfies never;
    }
  }
}

function toText(
  { name: server, title }: Attempt['server'],
  agent: AgentConfig | undefined,
  names: string[],
): string {
  const usable = names.filter((name) => mayUse(agent, server, name)).join(', ');
  return `${title} is connected. These tools are available now: ${usable || 'none'}.`;
}
