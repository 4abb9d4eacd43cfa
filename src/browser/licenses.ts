/** What a bundle is made of, by whom and under which terms: the notices that have to go wherever the bundle goes. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const ours = path.join(root, 'LICENSE');

interface Notice {
  /** Name, version and the short name of the licence. */
  title: string;
  license: string;
  text: string | null;
}

/** `files` are all that went into the bundle. A package without terms fails: nobody may pass it on. */
export function licensesOf(files: string[]): string {
  const folders = new Set(
    files.flatMap((file) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file) ?? []),
  );
  const notices = [...folders].map(noticeOf).toSorted((one, other) => one.title.localeCompare(other.title));
  const apache = readFileSync(ours, 'utf8').trim();
  const byText = new Map<string, string[]>();
  for (const { title, license, text } of notices) {
    if (text === null && license !== 'Apache-2.0') throw new Error(`${title} comes without its terms`);
    const terms = text ?? 'Licensed under the Apache License, Version 2.0, whose text is at the end.';
    byText.set(terms, [...(byText.get(terms) ?? []), title]);
  }
  const parts = [...byText].map(([terms, titles]) => `${titles.join('\n')}\n\n${terms}`);
  const line = `\n\n${'-'.repeat(80)}\n\n`;
  return [
    'Interlude is under the Apache License, Version 2.0. It contains the following.',
    ...parts,
    `The Apache License, Version 2.0, of all that names it\n\n${apache}`,
  ].join(line);
}

function noticeOf(folder: string): Notice {
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license: string;
  };
  const file = ['LICENSE', 'LICENSE.md', 'license', 'license.md']
    .map((one) => path.join(folder, one))
    .find((one) => existsSync(one));
  const text = file === undefined ? null : readFileSync(file, 'utf8').replaceAll('\r\n', '\n').trim();
  return { title: `${name} ${version} (${license})`, license, text };
}
