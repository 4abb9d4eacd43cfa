/** `interlude login`: signs in to a service, for every command that speaks to it. */
import { createKeptLogins, loginsFolder } from '../login/kept-logins.ts';
import { signInWithBrowser } from '../login/in-browser.ts';
import { signIn } from '../login/sign-in.ts';
import { serviceAddress } from '../login/sign-in-server.ts';
import { signInWithDevice } from '../login/with-device.ts';
import { defineCommand } from '../command.ts';
import { readService, serviceOption } from './service-option.ts';
import { print, printAside } from '../terminal-text.ts';

export const login = defineCommand({
  arguments: [],
  options: {
    service: serviceOption,
    device: { type: 'boolean', description: 'with a code, in a browser of another machine' },
  },
  details:
    'The login is kept in your own configuration folder and renewed by itself; interlude logout ends it. INTERLUDE_TOKEN is used instead where it is set.',
  async run({ service: given, device }) {
    const service = serviceAddress(readService(given));
    const made = await signIn({
      service,
      logins: createKeptLogins(loginsFolder(process.env)),
      say: (text) => printAside(text),
      sign: device ? signInWithDevice : signInWithBrowser,
    });
    print(`Signed in to ${service}${made.name === undefined ? '' : ` as ${made.name}`}.\n`);
  },
});
