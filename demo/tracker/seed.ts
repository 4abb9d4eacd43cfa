/** What is in Tracker on the first day. */
import type { Issue } from './store.ts';

export function seed(): Issue[] {
  return [
    {
      id: 1,
      title: 'Checkout button stays disabled after editing the address',
      description:
        'Change the address on the last step and the button never comes back until the page is reloaded.',
      state: 'open',
      assignee: 'alice',
      author: 'bob',
      createdAt: '2026-11-03T09:12:00.000Z',
      comments: [
        { author: 'bob', text: 'Seen in Safari and Firefox, not in Chrome.', at: '2026-11-03T09:15:00.000Z' },
      ],
    },
    {
      id: 2,
      title: 'Write the release notes for 4.2',
      description: 'Cover the new export, the faster search and the two breaking changes.',
      state: 'open',
      assignee: 'alice',
      author: 'alice',
      createdAt: '2026-11-05T14:40:00.000Z',
      comments: [],
    },
    {
      id: 3,
      title: 'Nightly backup takes longer than the night',
      description: 'Since the archive grew past 2 TB the job is still running when the office opens.',
      state: 'open',
      assignee: 'bob',
      author: 'bob',
      createdAt: '2026-11-06T06:03:00.000Z',
      comments: [
        {
          author: 'alice',
          text: 'Customers notice: reports are slow until ten.',
          at: '2026-11-06T10:21:00.000Z',
        },
      ],
    },
    {
      id: 4,
      title: 'Dates in the CSV export ignore the time zone',
      description: 'Exported on Monday evening in Lisbon, dated Tuesday.',
      state: 'open',
      assignee: 'alice',
      author: 'bob',
      createdAt: '2026-11-10T16:55:00.000Z',
      comments: [],
    },
    {
      id: 5,
      title: 'Rotate the certificates of the staging cluster',
      description: '',
      state: 'open',
      assignee: 'bob',
      author: 'bob',
      createdAt: '2026-11-12T08:30:00.000Z',
      comments: [],
    },
    {
      id: 6,
      title: 'Search finds nothing when the query ends in a space',
      description: 'Trim it.',
      state: 'closed',
      assignee: 'alice',
      author: 'alice',
      createdAt: '2026-10-21T11:00:00.000Z',
      comments: [{ author: 'alice', text: 'Fixed in 4.1.3.', at: '2026-10-22T15:09:00.000Z' }],
    },
  ];
}
