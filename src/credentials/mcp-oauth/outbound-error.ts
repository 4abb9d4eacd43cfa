/** Why a request to a host that a server's documents name has failed. */
export type OutboundFailure =
  | 'unreachable'
  | 'timeout'
  | 'too-large'
  | 'redirected'
  | 'forbidden'
  | 'plain-http'
  | 'not-public';

/** Knows the host and what happened; never a path, query, header or body. */
export class OutboundError extends Error {
  override name = 'OutboundError';
  readonly failure: OutboundFailure;
  readonly host: string;
  constructor(failure: OutboundFailure, host: string) {
    super(`${host} ${words[failure]}`);
    this.failure = failure;
    this.host = host;
  }
  get happened(): string {
    return words[this.failure];
  }
}

const words: Record<OutboundFailure, string> = {
  unreachable: 'cannot be reached',
  timeout: 'did not answer in time',
  'too-large': 'answered with too much data',
  redirected: 'answered with a redirect, which is not followed here',
  forbidden: 'is not an http or https address without a password in it',
  'plain-http': 'is not reached by https',
  'not-public': 'is not at an address of the internet',
};
