/** Options that several commands have. */
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';

const defaultPort = 3000;
export const defaultUrl = `http://127.0.0.1:${defaultPort}`;

/** Its address: from the option, or that of a service on this machine. */
export const readService = (given?: string) =>
  given ?? `http://127.0.0.1:${process.env['PORT'] ?? defaultPort}`;

function webAddress(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text;
  throw new InvalidArgumentError('It is not a URL; it begins with https:// or http://.');
}

export const serviceOption = new Option(
  '--service <url>',
  `the address of Interlude (default: ${defaultUrl})`,
).argParser(webAddress);

/** As `chat` calls it. */
export const urlOption = new Option('--url <url>', serviceOption.description).argParser(webAddress);

export const tokenOption = new Option('--token <token>', 'an API token, instead of your login');

export const demoUserOption = new Option('--as <user>', 'a user of the demo: alice or bob');
