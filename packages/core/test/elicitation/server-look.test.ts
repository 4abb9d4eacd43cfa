import { expect, test } from 'vitest';
import { lookOf } from '../../src/elicitation/server-look.ts';

const png = 'data:image/png;base64,iVBORw0KGgo=';

test('a colour comes from the name, the same each time, and the letter on it can be read', () => {
  const looks = Array.from({ length: 200 }, (_, index) =>
    lookOf({ name: `server-${index}`, title: 'Tracker' }),
  );
  expect(lookOf({ name: 'server-7', title: 'Other' }).colour).toBe(looks[7]?.colour);
  expect(new Set(looks.map(({ colour }) => colour)).size).toBeGreaterThan(100);
  for (const { colour } of looks) expect(colour).toMatch(/^#[0-9a-f]{6}$/);
  const inkOn = (colour: string) => lookOf({ name: 'a', title: 'a', colour }).ink;
  expect([inkOn('#ffffff'), inkOn('#ffd400'), inkOn('#000000'), inkOn('#2f6f5e')]).toEqual([
    '#000',
    '#000',
    '#fff',
    '#fff',
  ]);
});

test('what a hostile service sends is not used: no address to load, no other colour', () => {
  for (const picture of [
    'https://tracker.example/logo.png',
    '//tracker.example/logo.png',
    'data:text/html;base64,PHNjcmlwdD4=',
    'data:image/png;base64,AA==" onload="x',
    '',
  ])
    expect(lookOf({ name: 'a', title: 'a', picture }).picture).toBeNull();
  expect(lookOf({ name: 'a', title: 'a', picture: png }).picture).toBe(png);
  expect(lookOf({ name: 'a', title: 'a', colour: 'url(https://a.example)' }).colour).toBe(
    lookOf({ name: 'a', title: 'a' }).colour,
  );
});

test('the letter is the first that a person sees', () => {
  expect(['étage', '', '👩‍💻 desk', 'ǆ'].map((title) => lookOf({ name: 'a', title }).letter)).toEqual([
    'É',
    '',
    '👩‍💻',
    'Ǆ',
  ]);
});
