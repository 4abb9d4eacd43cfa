/** What models write, as Slack shows it: in messages, cut where they are long, without mentions. */
import { describe, expect, test } from 'vitest';
import { closing, excerpt, reach } from '../../../src/api/slack/vocabulary/text/cut.ts';
import { harmless } from '../../../src/api/slack/vocabulary/text/harmless.ts';
import { toMrkdwn } from '../../../src/api/slack/vocabulary/text/mrkdwn.ts';

describe('in a message', () => {
  test.each([
    ['# Issues **now**', '*Issues now*'],
    ['**bold**, *soft*, ~~gone~~ and `code`', '*bold*, _soft_, ~gone~ and `code`'],
    ['- one\n- two\n  - three', '• one\n• two\n    • three'],
    ['3. one\n4. two', '3. one\n4. two'],
    ['> said\n> twice', '> said\n> twice'],
    ['[the plan](https://a.example/?a=1&b=2)', '<https://a.example/?a=1&amp;b=2|the plan> (a.example)'],
    ['https://a.example/x', '<https://a.example/x>'],
    ['[a.example/x](https://a.example/x)', '<https://a.example/x|a.example/x>'],
    ['[b.example](https://a.example/)', '<https://a.example/|b.example> (a.example)'],
    ['[b.example, to pay](https://a.example/)', '<https://a.example/|b.example, to pay> (a.example)'],
    ['[b.example:443](https://a.example/)', '<https://a.example/|b.example:443> (a.example)'],
    ['[https://b.example](https://a.example/)', '<https://a.example/|https://b.example> (a.example)'],
    ['[\u202Eelpmaxe.b](https://a.example/)', '<https://a.example/|elpmaxe.b> (a.example)'],
    ['https://b.example@a.example/', '<https://b.example@a.example/> (a.example)'],
    ['# See [b.example](https://a.example/)', '*See b.example (a.example)*'],
    ['![b.example](https://a.example/)', 'b.example'],
    ['[mail](mailto:a@b.example)', '<mailto:a@b.example|mail> (a@b.example)'],
    ['[pay](javascript:alert(1))', '_pay_'],
    ['```ts\na < b && c\n```', '```\na &lt; b &amp;&amp; c\n```'],
    [
      '| a | long |\n|---|---|\n| **wide one** | 1 |',
      '```\na         long\n--------  ----\nwide one  1\n```',
    ],
    ['one\n\n---\n\ntwo', 'one\n\n———\n\ntwo'],
  ])('%j', (markdown, shown) => expect(toMrkdwn(markdown)).toBe(shown));

  test.each([
    '<!channel>',
    '<@U1>',
    '`<!here>`',
    '```\n<!everyone>\n```',
    '[<!channel>](https://a.example/)',
  ])('%s calls nobody', (markdown) => expect(toMrkdwn(markdown)).not.toMatch(/<[!@#]/));
});

describe('in a stream', () => {
  test('no one is mentioned, also where a mention comes in two pieces', () => {
    expect(harmless('hi <!channel>')).toBe('hi <\u2060!channel>');
    expect(harmless('hi <@U1>', 4)).toBe('\u2060@U1>');
    expect(harmless('x a < b <= c', 1)).toBe(' a < b <= c');
  });

  /** What Slack's parser would make of it; a link needs its brackets beside each other. */
  const hidesAddress = /\]\(|\]\[|\]:|<[a-z]+:[^>]*\|/;
  test.each([
    '[your bank](https://evil.example/)',
    '![chart](https://evil.example/?secret)',
    '[your bank][1]\n\n[1]: https://evil.example/',
    '<https://evil.example|your bank>',
    '`code` [your bank](https://evil.example/)',
    '` [your bank](https://evil.example/) `',
    '- ```\n- [your bank](https://evil.example/)',
    '````\n```\n[your bank](https://evil.example/)',
    '```\n``` x\n[your bank](https://evil.example/)',
    '```\ncode\n```\n[your bank](https://evil.example/)',
    '```js [your bank](https://evil.example/)',
    '~~~\n[your bank](https://evil.example/)',
  ])('no address hides in %j, however it is cut', (markdown) => {
    expect(harmless(markdown)).not.toMatch(hidesAddress);
    expect(harmless(markdown)).toContain('evil.example');
    for (let cut = 1; cut < markdown.length; cut++) {
      const streamed = harmless(markdown, 0, cut) + harmless(markdown, cut);
      expect(streamed, String(cut)).not.toMatch(hidesAddress);
    }
  });

  test('code stays as it was written', () => {
    const program = '```ts\nconst a: Map<string, number[]> = m[i](x)[0];\n```\n';
    expect(harmless(program)).toBe(program);
    expect(harmless(program, 20)).toBe(program.slice(20));
  });
});

describe('a long text', () => {
  const fits = (text: string) => toMrkdwn(text).length <= 200;
  function messagesOf(markdown: string, most = 200): string[] {
    const messages: string[] = [];
    for (let begin = 0; begin < markdown.length;) {
      const end = reach(markdown, begin, { most, fits });
      messages.push(excerpt(markdown, begin, end));
      begin = end;
    }
    return messages;
  }

  test('is cut behind a paragraph, a line, a sentence, a word, and nothing of it is lost', () => {
    for (const [part, end] of [
      [`${'word '.repeat(18).trim()}\n\n`, '\n\n'],
      [`${'word '.repeat(18).trim()}\n`, '\n'],
      [`${'word '.repeat(18).trim()}. `, '. '],
      ['word ', ' '],
    ] as const) {
      const text = part.repeat(30);
      const messages = messagesOf(text);
      expect(messages.join('')).toBe(text);
      for (const message of messages) expect(message.endsWith(end), message).toBe(true);
    }
    const unbroken = '🙂'.repeat(500);
    expect(messagesOf(unbroken, 199).join('')).toBe(unbroken);
    expect(messagesOf(unbroken, 199).every((message) => message.isWellFormed())).toBe(true);
  });

  test('grows without a change of what is full already', () => {
    const text = 'Some words. And more\n\n- of them\n'.repeat(40);
    const first = reach(text, 0, { most: 200, fits });
    for (let length = first + 201; length < text.length; length += 7)
      expect(reach(text.slice(0, length), 0, { most: 200, fits })).toBe(first);
  });

  test('closes its code at the end of a message, and opens it again in the next one', () => {
    const code = '```ts\n' + 'const a = 1;\n'.repeat(40) + '```\n\ndone';
    const messages = messagesOf(code);
    expect(messages.length).toBeGreaterThan(2);
    for (const message of messages.slice(0, -1)) expect(message).toMatch(/^```ts\n[^`]*\n```$/);
    expect(
      messages
        .map(toMrkdwn)
        .join('')
        .match(/const a = 1;/g),
    ).toHaveLength(40);
    expect(closing('```ts\nlet', 9)).toBe('\n```');
    expect(closing('```ts\nlet\n```\nx', 15)).toBe('');
  });

  test('whose characters grow when they are escaped stays below the limit', () => {
    for (const message of messagesOf('<&>'.repeat(200))) expect(toMrkdwn(message).length).toBeLessThan(201);
  });
});
