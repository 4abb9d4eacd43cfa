/** Tools whose calls a user wants to go out without being asked each time. */
export interface Approvals {
  /** Again, under the same id, is a no-op, also after it was withdrawn. */
  remember(approval: NewApproval): Promise<void>;
  isRemembered(call: ApprovedTool & { conversation: string }): Promise<boolean>;
  /** Those in force, newest first. */
  list(user: ApprovingUser): Promise<RememberedApproval[]>;
  /** With all that say the same. Null when there is none in force of this user. */
  withdraw(user: ApprovingUser, id: string): Promise<RememberedApproval | null>;
}

export interface ApprovingUser {
  tenant: string;
  user: string;
}

export interface ApprovedTool extends ApprovingUser {
  server: string;
  /** Where the server was when it was approved: another one under its name is not meant. */
  place: string;
  /** The tool's own name at its server. */
  tool: string;
  /** A digest of what the server said of the tool: one that says something else is not meant. '' where nothing is said. */
  definition: string;
}

export interface NewApproval extends ApprovedTool {
  /** Of the question in which it was said. */
  id: string;
  /** Null: in all conversations. */
  conversation: string | null;
}

export interface RememberedApproval extends NewApproval {
  /** In epoch milliseconds. */
  createdAt: number;
}
