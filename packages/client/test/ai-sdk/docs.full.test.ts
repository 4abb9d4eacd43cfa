import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { installPackages, withTools } from '../../../../test/package/installed.ts';

const run = promisify(execFile);
const page = new URL('../../../../docs/ai-sdk.md', import.meta.url);

const compilerOptions = {
  target: 'es2024',
  lib: ['es2024'],
  types: ['node'],
  module: 'nodenext',
  noEmit: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  // What the SDK's own packages say is theirs to check.
  skipLibCheck: true,
};

test('the examples of its page compile against the package as it is installed', async () => {
  const project = await installPackages(['@types/node', 'ai']);
  try {
    const examples = [...readFileSync(page, 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(
      ([, code = '']) => code,
    );
    expect(examples.length).toBeGreaterThan(3);
    const [first = '', ...others] = examples;
    const files = others.map((code, index) => {
      const name = `example-${index}.ts`;
      writeFileSync(path.join(project.folder, name), `${first}{\n${code}}\n`);
      return name;
    });
    const wrong = `${first}createInterlude({ baseURL: 1, token: 't' });\n`;
    writeFileSync(path.join(project.folder, 'wrong.ts'), wrong);
    const complaints = async (found: string[]) => {
      const config = path.join(project.folder, 'tsconfig.json');
      writeFileSync(config, JSON.stringify({ compilerOptions, files: found }));
      const options = { cwd: project.folder, env: withTools() };
      return run('tsc', ['-p', config], options).then(
        ({ stdout }) => stdout,
        (error: { stdout: string }) => error.stdout,
      );
    };
    expect(await complaints(files)).toBe('');
    expect(await complaints(['wrong.ts'])).toContain("'number' is not assignable to type 'string'");
  } finally {
    await project.remove();
  }
});
