/**
 * A real Firefox: the machine's own (FIREFOX_PATH, or on the PATH), else Debian's. It has its popup blocker and keeps
 * storage apart by site, as people have it.
 */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { firefox } from 'playwright-core';
import { findProgram } from '../programs/find-program.ts';
import type { Program } from '../programs/find-program.ts';
import { launchFound } from './launch.ts';
import type { Launched } from './launch.ts';

const program: Program = {
  given: 'FIREFOX_PATH',
  names: ['firefox', 'firefox-esr'],
  package: 'firefox-esr',
  executable: 'usr/lib/firefox-esr/firefox-esr',
};

export async function launchFirefox(): Promise<Launched> {
  return launchFound(await findProgram(program), async ({ executable, env }) =>
    firefox.launch({
      // One of Playwright's names for Firefoxes that are not its own; its documentation does not list it.
      channel: 'moz-firefox',
      executablePath: await starter(),
      env: { ...process.env, ...env, FIREFOX_PATH: executable },
      firefoxUserPrefs: {
        // Else a click would not arrive in a frame of another site, which is a process of its own.
        'remote.events.async.mouse.enabled': true,
        'dom.disable_open_during_load': true,
        'browser.contentblocking.category': 'custom',
        'network.cookie.cookieBehavior': 5,
      },
    }),
  );
}

/** Playwright starts one file, with Firefox's own arguments. */
async function starter(): Promise<string> {
  const file = path.resolve(import.meta.dirname, '../../node_modules/.cache/firefox-relay.sh');
  const draft = `${file}.${process.pid}`;
  await mkdir(path.dirname(file), { recursive: true });
  const relay = fileURLToPath(new URL('./firefox-relay.ts', import.meta.url));
  await writeFile(draft, `#!/bin/sh\nexec "${process.execPath}" "${relay}" "$@"\n`, { mode: 0o755 });
  await rename(draft, file);
  return file;
}
