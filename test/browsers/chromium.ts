/**
 * A real browser: the machine's own Chromium (CHROMIUM_PATH, or on the PATH), else the one that came with
 * `npm install`, unpacked once, libraries and fonts included, for machines that have neither.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, LaunchOptions } from 'playwright-core';
import { onPath } from '../programs/find-program.ts';

export const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const modules = path.join(import.meta.dirname, '../../node_modules');

/** Of each of these the last one counts, and Playwright has others. */
export const storageApart = [
  '--disable-features=HttpsUpgrades',
  '--enable-features=ThirdPartyStoragePartitioning',
];

/** A browser with a window asks each server for it, also where the page names no icon. */
export const isFavicon = (url: string) => URL.parse(url)?.pathname === '/favicon.ico';

interface Behaviour {
  /** As people have it, where Playwright switches it off: a popup blocker, and storage kept apart by site. */
  isStrict?: boolean;
  /** Blocks every popup, even after a click, as the strictest blockers do. */
  opensNoWindows?: boolean;
}

export async function launchChromium(behaviour: Behaviour = {}): Promise<Browser> {
  const { isStrict = false, opensNoWindows = false } = behaviour;
  const own = process.env['CHROMIUM_PATH'] ?? onPath(names);
  const options: LaunchOptions = {
    ignoreDefaultArgs: isStrict ? ['--disable-popup-blocking'] : false,
    args: isStrict ? storageApart : [],
  };
  const browser = await (own === undefined
    ? launchPackaged(options)
    : chromium.launch({ ...options, executablePath: own }));
  return opensNoWindows ? withoutWindows(browser) : browser;
}

/** Chromium's own switch for this is missing in whole browsers. */
function withoutWindows(browser: Browser): Browser {
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    await context.addInitScript(() => (window.open = () => null));
    return context;
  };
  return browser;
}

async function launchPackaged({ args = [], ...options }: LaunchOptions): Promise<Browser> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('These tests need a Chromium: install one, or say where it is with CHROMIUM_PATH');
  }
  const folder = await unpacked();
  await pointToFonts(folder);
  return chromium.launch({
    ...options,
    executablePath: path.join(folder, 'chromium'),
    // It is built for machines without sandboxes and graphics.
    args: ['--no-zygote', '--disable-gpu', '--headless=shell', ...args],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: path.join(folder, 'al2023/lib'),
      FONTCONFIG_FILE: path.join(folder, 'fonts.conf'),
    },
  });
}

/** Complete or not at all, also when two processes unpack at once. */
async function unpacked(): Promise<string> {
  const home = path.join(modules, '@sparticuz/chromium');
  const { version } = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')) as {
    version: string;
  };
  const folder = path.join(modules, `.cache/chromium-${version}`);
  if (existsSync(folder)) return folder;
  const { inflate } = await import('@sparticuz/chromium');
  await mkdir(path.dirname(folder), { recursive: true });
  const inProgress = await mkdtemp(`${folder}-`);
  const temporary = process.env['TMPDIR'];
  // The package unpacks into the system's folder for temporary files, and only there.
  process.env['TMPDIR'] = inProgress;
  try {
    await Promise.all(
      ['chromium.br', 'fonts.tar.br', 'al2023.tar.br'].map((file) => inflate(path.join(home, 'bin', file))),
    );
  } finally {
    if (temporary === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = temporary;
  }
  await rename(inProgress, folder).catch(() => rm(inProgress, { recursive: true }));
  return folder;
}

/** The file holds absolute paths, and without its fonts the browser crashes: a checkout may have been copied or moved. */
async function pointToFonts(folder: string): Promise<void> {
  const file = path.join(folder, 'fonts.conf');
  const [fonts, cache] = ['fonts', 'fonts-cache'].map((name) => path.join(folder, name));
  const config = `<fontconfig><dir>${fonts}</dir><cachedir>${cache}</cachedir></fontconfig>`;
  if (existsSync(file) && readFileSync(file, 'utf8') === config) return;
  // Others may be reading the file.
  const next = `${file}-${randomUUID()}`;
  await writeFile(next, config);
  await rename(next, file);
}
