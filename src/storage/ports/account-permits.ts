/** Who, besides operators, may connect or end the shared account of a server: given on the command line, for a while. */
export interface AccountPermits {
  /** Again: until the new time. */
  give(permit: AccountPermit & { expiresAt: number }): Promise<void>;
  holds(permit: AccountPermit): Promise<boolean>;
}

export interface AccountPermit {
  tenant: string;
  server: string;
  user: string;
}
