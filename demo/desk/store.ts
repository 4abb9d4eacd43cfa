/** What the Desk keeps: pages of a wiki, members of teams, how people want their digest, invoices. In one JSON file. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { openJsonFile } from '../tracker/json-file.ts';

export interface Page {
  title: string;
  text: string;
  changedBy: string;
}

export interface Member {
  name: string;
  email: string;
  team: string;
}

export interface Digest {
  every: 'day' | 'week';
  topics: ('issues' | 'pages' | 'people')[];
  hour: number;
}

export interface Invoice {
  id: string;
  from: string;
  euros: number;
  paidAt: string | null;
  /** Names the payment page; nobody can guess it. */
  payment: string;
}

export interface DeskBooks {
  teams: string[];
  pages: Page[];
  members: Member[];
  digest: Digest;
  invoices: Invoice[];
}

export interface DeskStore {
  readonly books: Readonly<DeskBooks>;
  /** True unless there is no such page. */
  deletePage(title: string): boolean;
  /** The same address again changes the member. */
  addMember(member: Member): void;
  setDigest(digest: Digest): void;
  invoiceOf(payment: string): Invoice | undefined;
  pay(invoice: Invoice): void;
}

export function openDeskStore(dataDir: string): DeskStore {
  const { data, save } = openJsonFile<DeskBooks>(path.join(dataDir, 'desk.json'), freshBooks);
  save();
  return {
    books: data,
    deletePage(title) {
      const index = data.pages.findIndex((page) => page.title === title);
      if (index === -1) return false;
      data.pages.splice(index, 1);
      save();
      return true;
    },
    addMember(member) {
      data.members = [...data.members.filter(({ email }) => email !== member.email), member];
      save();
    },
    setDigest(digest) {
      data.digest = digest;
      save();
    },
    invoiceOf: (payment) => data.invoices.find((invoice) => invoice.payment === payment),
    pay(invoice) {
      invoice.paidAt ??= new Date().toISOString();
      save();
    },
  };
}

function freshBooks(): DeskBooks {
  const invoice = (id: string, from: string, euros: number): Invoice => ({
    id,
    from,
    euros,
    paidAt: null,
    payment: randomBytes(12).toString('base64url'),
  });
  return {
    teams: ['Design', 'Platform', 'Support'],
    pages: [
      { title: 'Office plants', text: 'Who waters which plant, and when.', changedBy: 'Bob Brown' },
      { title: 'Travel policy', text: 'Trains before planes, second class.', changedBy: 'Alice Adams' },
      { title: 'Old roadmap', text: 'What we meant to build two years ago.', changedBy: 'Bob Brown' },
    ],
    members: [{ name: 'Bob Brown', email: 'bob@example.com', team: 'Platform' }],
    digest: { every: 'week', topics: ['issues'], hour: 9 },
    invoices: [invoice('I-17', 'Green Office Plants', 48), invoice('I-18', 'Corner Coffee', 112)],
  };
}
