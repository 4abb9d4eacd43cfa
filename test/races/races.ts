/** What may happen to a question at the same moment as an answer, or as the connection of its account. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pick } from '../operations/chaos-plan.ts';
import { endsWithinMs } from './invariants.ts';
import { accept, answer, anyCaller, begin, calling, cancel, decline, pause, sendMessage } from './round.ts';
import type { Race, Round } from './round.ts';

/** Both sides of a race start within this time, which is about what a request takes. */
const spreadMs = 12;
/** From the first chunk of a turn to its question. */
const openingMs = 500;

/** For the pages of an account, with the others in flight. */
const pagesMs = 150;

const book = (round: Round) => begin(round, calling('desk__book', { city: round.city }), 'assistant');
const idOf = (question: { elicitationId: string }) => question.elicitationId;
const either = ({ random }: Round) => pick(random, [accept, decline]);

async function afterPause<T>(round: Round, work: () => Promise<T>, ms = spreadMs): Promise<T> {
  await pause(round, ms);
  return work();
}

/** Needs questions that expire soon. */
export const answerOrDeadline: Race = async (round) => {
  const turn = await book(round);
  const { elicitationId, expiresAt } = await turn.question(0);
  await sleep(Date.parse(expiresAt) - Date.now() + (round.random() - 0.6) * 60);
  await answer(round, turn, elicitationId, either(round));
};

const answerOrMessage: Race = async (round) => {
  const turn = await book(round);
  const id = idOf(await turn.question(0));
  const [given, message] = await Promise.all([
    afterPause(round, () => answer(round, turn, id, either(round))),
    afterPause(round, () => sendMessage(round, turn)),
  ]);
  if (message.status === 409 && given.status !== 200)
    round.problems.push(`the message and the answer were both refused (${given.status})`);
};

const answerOrCancel: Race = async (round) => {
  const turn = await book(round);
  const id = idOf(await turn.question(0));
  await Promise.all([
    afterPause(round, () => answer(round, turn, id, either(round))),
    afterPause(round, () => cancel(round, turn)),
  ]);
};

const twoAnswers: Race = async (round) => {
  const turn = await book(round);
  const id = idOf(await turn.question(0));
  const replies = await Promise.all(
    [accept, decline].map((response) => afterPause(round, () => answer(round, turn, id, response))),
  );
  const statuses = replies.map(({ status }) => status).toSorted();
  if (statuses.join() !== '200,409') round.problems.push(`opposite answers got ${statuses.join()}`);
};

/** The server stops waiting: it ends its call, and may withdraw its question before. */
const answerOrWithdrawal: Race = async (round) => {
  const holdMs = 500;
  const withdraws = round.random() < 0.5;
  const text = calling('held__hold', { city: round.city, holdMs, withdraws });
  const turn = await begin(round, text, 'assistant');
  // On a busy machine the server may have stopped waiting before its question was opened.
  const question = await turn.question(0).catch(() => null);
  if (!question) return;
  const id = idOf(question);
  const { createdAt } = (await round.site.storage.elicitations.get(id)) ?? { createdAt: Date.now() };
  await sleep(createdAt + holdMs - Date.now() + (round.random() - 0.9) * 100);
  await answer(round, turn, id, accept);
};

/** Takes accounts that no other round uses, and removes them afterwards. */
async function withAccounts(
  round: Round,
  work: (agent: string, n: number) => Promise<unknown>,
): Promise<void> {
  const { pairs } = round.site;
  const n = pairs.shift();
  if (n === undefined) throw new Error('more rounds are in flight than there are accounts');
  try {
    await work(`pair${n}`, n);
  } finally {
    for (const side of ['left', 'right'])
      await anyCaller(round).request('DELETE', `/run/v1/connections/${side}${n}`);
    pairs.push(n);
  }
}

const visit = ({ city }: Round, n: number, side = 'left') =>
  calling(`${side}${n}__visit`, { city: `${city}-${side}` });

/** All turns of the round: until then their accounts are not removed. */
async function untilEnded(turns: { stream: { finished(): Promise<unknown> } }[]): Promise<void> {
  const late = sleep(endsWithinMs, undefined, { ref: false }).then(() => {
    throw new Error('a turn does not end');
  });
  await Promise.race([late, Promise.all(turns.map(({ stream }) => stream.finished()))]);
}

const connectedOrEnd: Race = (round) =>
  withAccounts(round, async (agent, n) => {
    const turn = await begin(round, visit(round, n), agent);
    const { url } = await turn.question(0);
    const end = pick(round.random, [sendMessage, cancel]);
    await Promise.all([
      round.site.connect(url),
      // Two pages lie between the person and the account.
      afterPause(round, () => end(round, turn), pagesMs),
    ]);
    await untilEnded([turn]);
  });

/** The account is connected while another turn just opens its own question about it. */
const connectedOrOpening: Race = (round) =>
  withAccounts(round, async (agent, n) => {
    const first = await begin(round, visit(round, n), agent);
    const { url } = await first.question(0);
    const other = calling(`left${n}__visit`, { city: `${round.city}-other` });
    const [second] = await Promise.all([
      begin(round, other, agent),
      afterPause(round, () => round.site.connect(url), openingMs),
    ]);
    await untilEnded([first, second]);
  });

/** An answer to a question about an account while another turn opens its question about the same account. */
const declinedOrOpening: Race = (round) =>
  withAccounts(round, async (agent, n) => {
    const first = await begin(round, visit(round, n), agent);
    const question = await first.question(0);
    const other = calling(`left${n}__visit`, { city: `${round.city}-other` });
    const [second] = await Promise.all([
      begin(round, other, agent),
      afterPause(round, () => answer(round, first, idOf(question), decline), openingMs),
    ]);
    await answer(round, second, idOf(await second.question(0)), decline);
    await untilEnded([first, second]);
  });

const twoAccounts: Race = (round) =>
  withAccounts(round, async (agent, n) => {
    const turn = await begin(round, `${visit(round, n)}\n${visit(round, n, 'right')}`, agent);
    await turn.question(1);
    const questions = [await turn.question(0), await turn.question(1)];
    await Promise.all(
      questions.map(({ url }) => afterPause(round, () => round.site.connect(url), 2 * spreadMs)),
    );
    await untilEnded([turn]);
  });

/** Each question is answered at both APIs, alike or not. */
const fiveQuestions: Race = async (round) => {
  const text = calling('desk__book', { city: round.city, questions: 5 });
  const turn = await begin(round, text, 'assistant');
  await turn.question(4);
  const ids = await Promise.all([0, 1, 2, 3, 4].map(async (n) => idOf(await turn.question(n))));
  await Promise.all(
    [...ids, ...ids].map((id) => afterPause(round, () => answer(round, turn, id, either(round)))),
  );
};

/** One question is answered, or none, while a message arrives. */
const delegateAndTool: Race = async (round) => {
  const { city } = round;
  const task = calling('desk__book', { city: `${city}-delegate` });
  const text = `${calling('agent__helper', { task })}\n${calling('stay', { city: `${city}-tool` })}`;
  const turn = await begin(round, text, 'assistant');
  await turn.question(1);
  const ids = [idOf(await turn.question(0)), idOf(await turn.question(1))];
  const answered = round.random() < 0.7;
  const [message] = await Promise.all([
    afterPause(round, () => sendMessage(round, turn)),
    ...(answered ? [afterPause(round, () => answer(round, turn, pick(round.random, ids), accept))] : []),
  ]);
  if (message.status === 409)
    // The turn goes on: what is still open is answered.
    for (const id of ids) await answer(round, turn, id, accept);
  if (message.status === 409 && !answered) round.problems.push('the message was refused for no reason');
};

export interface NamedRace {
  name: string;
  race: Race;
}

/** Where questions stay open for ten minutes. */
export const races: NamedRace[] = [
  { name: 'an answer and a new message', race: answerOrMessage },
  { name: 'an answer and a cancellation', race: answerOrCancel },
  { name: 'two opposite answers', race: twoAnswers },
  { name: 'an answer and a server that stops waiting', race: answerOrWithdrawal },
  { name: 'a connected account and the end of the turn', race: connectedOrEnd },
  { name: 'a connected account and a question about it that opens', race: connectedOrOpening },
  { name: 'an answer and a question about the same account that opens', race: declinedOrOpening },
  { name: 'two accounts of one turn', race: twoAccounts },
];

/** Between processes. */
export const deployedRaces: NamedRace[] = [
  { name: 'five questions of a round, each answered at two APIs', race: fiveQuestions },
  { name: 'a delegate and a tool that ask, and a new message', race: delegateAndTool },
  { name: 'an answer and a new message at two APIs', race: answerOrMessage },
  { name: 'two opposite answers at two APIs', race: twoAnswers },
];
