import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import type { ElicitationRequest } from '../../src/contract/elicitation.ts';
import { QuestionCard } from '../../src/widget/question-card.tsx';
import { wordsFor } from '../../src/widget/words.ts';

const words = wordsFor('en');
const now = () => Date.parse('2026-11-21T12:00:00.000Z');

function cardOf(context: ElicitationRequest['context'], status: ElicitationRequest['status'] = 'pending') {
  const question: ElicitationRequest = {
    type: 'elicitation-request',
    elicitationId: 'q1',
    mode: 'form',
    message: 'Delete all 12 drafts?',
    requestedSchema: { type: 'object', properties: {} },
    context,
    status,
    expiresAt: '2026-11-21T12:10:00.000Z',
  };
  const answering = () => Promise.reject(new Error('nothing is sent here'));
  const markup = renderToStaticMarkup(
    createElement(QuestionCard, { question, words, answering, now, askAgain: undefined }),
  );
  return markup.replaceAll(/<[^>]*>/g, '\n').replaceAll(/\n+/g, '\n');
}

test('a question with nothing but a trigger is the agent’s, and nothing missing is shown as a word', () => {
  const text = cardOf({ trigger: 'approval' });
  expect(text).toContain('\nAgent\n');
  expect(text).toContain('\nDelete all 12 drafts?\n');
  expect(text).not.toMatch(/undefined|·|Asked by/);
  expect(cardOf({ trigger: 'approval' }, 'accept')).toBe('\nAgent: You approved\n');
});

test('a question of an agent without a server names the agent', () => {
  expect(cardOf({ trigger: 'model_question', agent: 'Researcher' })).toContain(
    '\nResearcher\n10:00 left\nAsked by Researcher\n',
  );
});
