/**
 * Everything that must not be found anywhere but where it belongs. What the test makes up is one long word, so that
 * nothing but a copy can look like it; what others make up is noted when it is first seen.
 */
import { randomBytes } from 'node:crypto';

export type Secrets = ReturnType<typeof createSecrets>;

export function createSecrets() {
  const secrets = new Map<string, Map<string, string[]>>();

  function note(name: string, value: string): string {
    if (value.length < 16) throw new Error(`Too short to be looked for: ${name}`);
    const ofName = secrets.get(name) ?? new Map<string, string[]>();
    secrets.set(name, ofName.set(value, ofName.get(value) ?? spellings(value)));
    return value;
  }

  return {
    /** Records one that was made elsewhere, and returns it. */
    note,
    /** A new one of this name. */
    mint: (name: string) =>
      note(name, `Mk${name.replaceAll(/[^a-z]/gi, '')}${randomBytes(12).toString('hex')}`),
    /** Names of those that were made or noted. */
    names: () => [...secrets.keys()],
    values: (name: string) => [...(secrets.get(name)?.keys() ?? [])],
    /** Names of those in it, plain or encoded; bytes are read as latin1. */
    foundIn(given: string | Buffer) {
      const text = typeof given === 'string' ? given : given.toString('latin1');
      return [...secrets]
        .filter(([, ofName]) => [...ofName.values()].flat().some((spelling) => text.includes(spelling)))
        .map(([name]) => name);
    },
  };
}

/** As it is, and as it looks within something that was encoded as a whole. */
export function spellings(value: string): string[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  const percent = hex.replaceAll(/../g, '%$&');
  const aligned = [0, 1, 2].flatMap((before) => {
    const base64 = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    // Without the characters that depend on what comes before and after.
    const inner = base64.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const all = [
    value,
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
    hex,
    hex.toUpperCase(),
    percent,
    percent.toUpperCase(),
    ...aligned,
  ];
  return [...new Set(all)];
}
