/** Who is calling: a person with a user id, or a program that acts for a whole tenant and has no user. */
export type Principal =
  | { kind: 'user'; tenant: string; user: string; name?: string }
  | { kind: 'service'; tenant: string; keyId: string };

export type UserPrincipal = Extract<Principal, { kind: 'user' }>;
