/** What the suite complains of and what stays as it is, by scenario. Its checks, and the reason as readers get it. */
export const unfulfilled = new Map<string, { checks: string[]; why: string }>([
  [
    'auth/basic-cimd',
    {
      checks: ['cimd-client-id-used'],
      why: 'Interlude shows the document at its own address as its client id, as it should; the suite only takes the one at its own address for that',
    },
  ],
  [
    'auth/scope-step-up',
    {
      checks: ['scope-step-up-initial', 'sep-2350-scope-union-on-reauth'],
      why: 'nothing but discovery is sent before there is a credential, so at first what the server publishes is asked for (`mcp:profile`), not what its 401 would have named. Its 403 is answered with the union of what is held and what it names, but the server wants something third',
    },
  ],
  [
    'auth/2025-03-26-oauth-endpoint-fallback',
    {
      checks: ['client-registration', 'authorization-request', 'token-request'],
      why: 'a sign-in server without metadata cannot show that it checks PKCE, and later revisions forbid to go on then',
    },
  ],
]);
