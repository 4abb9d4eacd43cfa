/**
 * What people and models are told of an account that everybody in a tenant shares and that cannot be used: nobody is
 * asked to connect it, since only an operator may.
 */
import type { ConnectionReason } from './elicitation.ts';

export interface SharedAccount {
  serverTitle: string;
  reason: ConnectionReason;
  /** Whom to ask, as configured. */
  contact: string | undefined;
}

export function sharedAccountMessage(account: SharedAccount): string {
  return `${troubleOf(account)} ${remedyFor(account)}`;
}

export function sharedAccountForModel(account: SharedAccount): string {
  return `${troubleOf(account)} Only an operator can connect it, not the user. The tool did not run. Tell the user: ${remedyFor(account)}`;
}

/** "Ask …", as a sentence. */
export function askWhom(contact: string | undefined): string {
  return `Ask ${whom(contact)}.`;
}

function whom(contact: string | undefined): string {
  return contact ?? 'the operator of this service';
}

function troubleOf({ serverTitle, reason }: SharedAccount): string {
  const one = `${serverTitle} is used with one account for everybody here`;
  switch (reason) {
    case 'missing':
      return `${one}, and it is not connected.`;
    case 'rejected':
      return `${one}, and ${serverTitle} refuses it.`;
    case 'insufficient_scope':
      return `${one}, and it lacks a permission that this needs.`;
    case 'revoked':
      return `${one}, and its access was withdrawn.`;
    default:
      return reason satisfies never;
  }
}

function remedyFor({ reason, contact }: SharedAccount): string {
  const what = reason === 'missing' ? 'connect it' : 'connect it again';
  return `Ask ${whom(contact)} to ${what}.`;
}
