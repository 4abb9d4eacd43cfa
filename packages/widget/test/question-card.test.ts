import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { shownArguments } from '@interlude-ai/core/elicitation/approval.ts';
import type { Message } from '../src/message.ts';
import { MessageView } from '../src/message-view.tsx';
import { dataUrl, png } from '../../../test/images.ts';
import { QuestionCard } from '../src/question-card.tsx';
import { wordsFor } from '@interlude-ai/core/elicitation/words.ts';

const words = wordsFor('en');
const answering = () => Promise.reject(new Error('nothing is sent here'));
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

test('a call to approve shows what will be sent; a server’s form without fields never looks like it', () => {
  const context = {
    server: 'wiki',
    serverTitle: 'Wiki',
    host: 'wiki.example',
    agent: 'Assistant',
    toolName: 'delete_page',
    arguments: '{\n  "page": "Old"\n}',
  };
  const ours = cardOf({ ...context, trigger: 'approval' });
  for (const text of [
    '\nYour approval is needed\n',
    '\nWiki · wiki.example · Asked by Assistant\n',
    '\nWhat will be sent\ndelete_page\n{\n  &quot;page&quot;: &quot;Old&quot;\n}\n',
    '\nApprove\n',
    '\nDecline\n',
    '\nAsk me again\n',
  ])
    expect(ours).toContain(text);
  expect(cardOf({ ...context, trigger: 'approval' }, 'accept')).toBe('\nWiki: You approved · Delete page\n');
  expect(cardOf({ ...context, trigger: 'approval' }, 'decline')).toBe('\nWiki: You declined · Delete page\n');

  const theirs = cardOf({ ...context, trigger: 'mcp_elicitation' });
  expect(theirs).toMatch(/\nWiki\n[^]*\nConfirm\nNot now\n/);
  expect(theirs).not.toMatch(/approv|&quot;page&quot;/i);
});

test('hostile arguments are shown as what they are, to the last of thirty thousand characters', () => {
  const hostile = '\u202Eevil\u202C <script>alert(1)</script>\r\nApprove\u200B\u001B[31m';
  const sent = { page: hostile, padding: 'x'.repeat(30_000), last: 'the last word' };
  const context = {
    trigger: 'approval',
    server: 'wiki',
    toolName: 'delete_page',
    arguments: shownArguments(sent),
  };
  const text = cardOf(context);
  expect(text).toContain(
    '&quot;page&quot;: &quot;\\u202eevil\\u202c &lt;script&gt;alert(1)&lt;/script&gt;\\r\\nApprove\\u200b\\u001b[31m&quot;',
  );
  expect(text).toContain('&quot;last&quot;: &quot;the last word&quot;\n}\n');
  // Its own button, and no line of the arguments' making.
  expect(text.match(/^Approve$/gm)).toHaveLength(1);
});

test('a question of an agent without a server names the agent', () => {
  expect(cardOf({ trigger: 'model_question', agent: 'Researcher' })).toContain(
    '\nResearcher\n10:00 left\nAsked by Researcher\n',
  );
});

const account: ElicitationRequest['context'] = { trigger: 'credential_required', serverTitle: 'Tracker' };

test.each(['decline', 'cancel', 'expired'] as const)(
  'after %s, the account can still be connected',
  (status) => {
    const link = 'href="https://interlude.example/connections"';
    const over = linkQuestion({ status });
    expect(over).toContain(link);
    expect(over).toContain('>Connect Tracker</a>');
    expect(linkQuestion({ status: 'accept' })).not.toContain(link);
    expect(linkQuestion({ status, context: { trigger: 'mcp_elicitation' } })).not.toContain(link);
  },
);

test.each([
  ['https://pay.example/x', true],
  ['http://127.0.0.1:3000/x', true],
  ['http://pay.example/x', false],
  ['vscode://localhost/x', false],
  ['ms-msdt://127.0.0.1/x', false],
  ['javascript://localhost/%0aalert(1)', false],
])('a page at %s can be opened from the card: %s', (url, isOpened) => {
  const card = linkQuestion({ url, context: { trigger: 'mcp_elicitation' } });
  expect(card.includes('<a ')).toBe(isOpened);
  expect(card.replaceAll(/<[^>]*>/g, '')).toContain(url);
  expect(card).toContain('Not now');
});

test('whose account only an operator can connect, the reader is told whom to ask; else they get a link', () => {
  const shared = noticeOf({ message: 'Tracker is not connected. Ask Dana to connect it.' });
  expect(shared).toContain('Ask Dana to connect it.');
  expect(shared).not.toContain('<a ');
  const own = noticeOf({ message: 'for other clients', url: 'https://interlude.example/connections' });
  expect(own).toContain(
    'Tracker is not connected. <a class="link" href="https://interlude.example/connections"',
  );
  expect(own).not.toContain('for other clients');
});

function linkQuestion(
  more: Partial<Pick<ElicitationRequest, 'status' | 'context'>> & { url?: string },
): string {
  const question: ElicitationRequest = {
    type: 'elicitation-request',
    elicitationId: 'q1',
    mode: 'url',
    message: 'Tracker needs your account.',
    url: 'https://interlude.example/auth/connect?e=q1',
    context: account,
    status: 'pending',
    expiresAt: '2026-11-21T12:10:00.000Z',
    ...more,
  };
  return drawn({ type: 'data-elicitation-request', id: 'q1', data: question });
}

function noticeOf(more: { message: string; url?: string }): string {
  const data = { server: 'tracker', serverTitle: 'Tracker', toolName: 'tracker__list_issues', ...more };
  return drawn({ type: 'data-tool-auth-required', id: 'c1', data });
}

function drawn(part: Message['parts'][number]): string {
  const message: Message = { id: 'm1', role: 'assistant', parts: [part] };
  return renderToStaticMarkup(
    createElement(MessageView, { message, words, answering, now, askAgain: undefined }),
  );
}

test('a message of the user shows the images that are in it, and loads none from anywhere', () => {
  const file = (url: string) => ({ type: 'file' as const, mediaType: 'image/png', url });
  const parts = [file(dataUrl(png)), file('https://x.example/a.png'), { type: 'text' as const, text: 'Hm?' }];
  const message: Message = { id: 'm1', role: 'user', parts };
  const markup = renderToStaticMarkup(
    createElement(MessageView, { message, words, answering, now, askAgain: undefined }),
  );
  expect(markup).toContain(`<img src="${dataUrl(png)}" alt="Image"/>Hm?`);
  expect(markup).not.toContain('x.example');
});
