import { describe, expect, test } from 'vitest';
import { script } from '../../demo/script.ts';
import type { Move, ToolOutcome } from '../../src/models/scripted/script.ts';

const names = ['list_issues', 'get_issue', 'create_issue', 'comment_on_issue', 'close_issue'];
const travelNames = ['book_trip', 'plan_offsite', 'pay_deposit', 'list_trips'];
const tools = [...names.map((name) => `tracker__${name}`), ...travelNames.map((name) => `travel__${name}`)];

const porto = 'T-1001 Porto, 2027-01-20, 5 nights, Alice Adams (deposit paid)';
const lisbon = 'T-1002 Lisbon, 2027-03-14, 2 nights, Bob Brown (deposit of 82 € due)';

function move(userText: string, outcomes: ToolOutcome[] = [], offered = tools): Move {
  for (const rule of script.rules) {
    const found = rule({ userText, tools: offered, outcomes, images: [] });
    if (found) return found;
  }
  throw new Error(`nothing to say to: ${userText}`);
}

/** Plays a tool that answers all calls with the same text, and returns what is said then. */
function answer(userText: string, text: string, ok = true): string {
  const outcomes = (move(userText).calls ?? []).map(({ tool, input }) => ({
    tool,
    input,
    ok,
    text,
    data: null,
  }));
  return move(userText, outcomes).say ?? '';
}

describe('what people ask of the Desk', () => {
  const atTheDesk = ['read_desk', 'delete_page', 'welcome_member', 'plan_digest', 'pay_invoice'];
  test.each<[string, string, Record<string, unknown>]>([
    ['Delete the page “Old roadmap”.', 'delete_page', { page: 'Old roadmap' }],
    ['remove page Travel policy', 'delete_page', { page: 'Travel policy' }],
    ['Welcome a new member.', 'welcome_member', {}],
    ['add a colleague', 'welcome_member', {}],
    ['Change my digest.', 'plan_digest', {}],
    ['Pay an invoice.', 'pay_invoice', {}],
    ['please pay invoice i-18', 'pay_invoice', { invoice: 'I-18' }],
    ['Look around.', 'read_desk', {}],
  ])('%s', (userText, tool, input) => {
    expect(move(userText, [], atTheDesk).calls).toEqual([{ tool, input }]);
  });

  test.each(['Delete the page “Old roadmap”.', 'Welcome a new member.', 'Pay an invoice.'])(
    'elsewhere it is told where to go: %s',
    (userText) => {
      expect(move(userText).say).toContain('choose the agent **desk**');
    },
  );

  test('it says what it can do', () => {
    expect(move('hello', [], atTheDesk).say).toContain('Welcome a new member.');
    expect(move('what can you do?', [], atTheDesk).say).not.toContain('Tracker');
  });
});

describe('what people ask for', () => {
  test.each<[string, ...[string, Record<string, unknown>][]]>([
    ['List my open issues in Tracker.', ['list_issues', { state: 'open', assignee: 'me' }]],
    ['which issues are closed?', ['list_issues', { state: 'closed', assignee: 'me' }]],
    ['Show all issues of the team', ['list_issues', { state: 'all', assignee: 'anyone' }]],
    ["bob's tickets", ['list_issues', { state: 'open', assignee: 'bob' }]],
    [
      'My open and closed issues, please',
      ['list_issues', { state: 'open', assignee: 'me' }],
      ['list_issues', { state: 'closed', assignee: 'me' }],
    ],
    ['Show issue #3.', ['get_issue', { id: 3 }]],
    ['Compare #1 and #2', ['get_issue', { id: 1 }], ['get_issue', { id: 2 }]],
    ['Create an issue: Buy milk', ['create_issue', { title: 'Buy milk', description: '' }]],
    ['create an issue called "Buy milk"', ['create_issue', { title: 'Buy milk', description: '' }]],
    [
      'Please file a new issue in Tracker: Close the #3 window\nIt is cold.',
      ['create_issue', { title: 'Close the #3 window', description: 'It is cold.' }],
    ],
    ['Comment on #3: please close this', ['comment_on_issue', { id: 3, text: 'please close this' }]],
    ['close #2', ['close_issue', { id: 2 }]],
    ['Close issues 2 and 3', ['close_issue', { id: 2 }], ['close_issue', { id: 3 }]],
    ['Who am I in Tracker?', ['list_issues', { state: 'all', assignee: 'me' }]],
  ])('%s', (userText, ...calls) => {
    expect(move(userText).calls).toEqual(calls.map(([name, input]) => ({ tool: `tracker__${name}`, input })));
  });

  test.each<[string, string, Record<string, unknown>]>([
    ['Book a trip to Lisbon.', 'book_trip', { destination: 'Lisbon' }],
    ['please book me a flight to New York for next week', 'book_trip', { destination: 'New York' }],
    ['Could you arrange a journey to São Paulo?', 'book_trip', { destination: 'São Paulo' }],
    ['book tickets to Aix-en-Provence in May', 'book_trip', { destination: 'Aix-en-Provence' }],
    ['Plan an offsite.', 'plan_offsite', {}],
    ['we need an off-site for the team', 'plan_offsite', {}],
    ['Pay the deposit for T-1002.', 'pay_deposit', { trip: 'T-1002' }],
    ['pay my trip t-1002', 'pay_deposit', { trip: 'T-1002' }],
    ['Pay the deposit.', 'list_trips', {}],
    ['List my trips.', 'list_trips', {}],
  ])('%s goes to the Travel Desk', (userText, name, input) => {
    expect(move(userText).calls).toEqual([{ tool: `travel__${name}`, input }]);
  });

  test('an issue about a trip is an issue all the same', () => {
    const { calls } = move('Create an issue: Book a trip to Lisbon and pay the deposit');
    expect(calls).toMatchObject([{ tool: 'tracker__create_issue' }]);
  });

  test.each([
    ['hello', /Hello!.*List my open issues/s],
    ['thank you!', /welcome/],
    ['help', /I can work with your issues/],
    ['create an issue', /What is it about\?/],
    ['book a trip', /Where to\?/],
    ['help', /Book a trip to Lisbon\..*Plan an offsite\..*Pay the deposit\..*List my trips\./s],
    ['Who are you?', /a script, not a language model/],
    ['colourless green ideas', /did not get that.*List my open issues/s],
  ])('%s is answered without a tool', (userText, words) => {
    expect(move(userText).calls).toBeUndefined();
    expect(move(userText).say).toMatch(words);
  });
});

describe('what they get', () => {
  test('a list', () => {
    const found = '#1 Checkout (again) broken (open, alice)\n#2 Release notes (open, alice)';
    expect(answer('List my open issues in Tracker.', found)).toBe(
      'You have **2 open issues** in Tracker:\n\n- **#1** Checkout (again) broken\n- **#2** Release notes',
    );
    expect(answer('all issues of the team', '#1 Checkout (open, alice)')).toBe(
      'The team has **1 issue** in Tracker:\n\n- **#1** Checkout (open, alice)',
    );
    expect(answer('issues of bob', 'No issues.')).toBe('Bob has no open issues in Tracker.');
  });

  test('one issue', () => {
    expect(answer('show #1', '#1 Checkout (open, alice)\nIt stays grey.\nbob: seen')).toBe(
      '**#1 Checkout** · open · alice\n> It stays grey.\n> bob: seen',
    );
  });

  test('confirmations', () => {
    expect(answer('create an issue: Milk', 'Created #9 Milk (open, alice)')).toBe('I created **#9** Milk.');
    expect(answer('comment on #9: now', 'Commented on #9 Milk (open, alice)')).toBe(
      'I added your comment to **#9** Milk.',
    );
    expect(answer('close #9', 'Closed #9 Milk (closed, alice)')).toBe('Done: **#9** Milk is closed.');
    expect(answer('who am i', '#9 Milk (closed, alice)')).toBe('In Tracker you are **alice**.');
  });

  test('an overview, by whoever is asked for it', () => {
    const issues = '#1 Milk (open, alice)\n#2 Tea (open, bob)\n#3 Rice (open, alice)\n#4 Salt (closed, bob)';
    const told =
      'There are **3 open** and 1 closed issues in Tracker.\n\n- **Alice**: #1 Milk, #3 Rice\n- **Bob**: #2 Tea';
    const asked = "Give me an overview of the team's work.";
    expect(answer(asked, issues)).toBe(told);
    expect(answer(asked, '')).toBe('There are **0 open** and 0 closed issues in Tracker.');

    const delegating = [...tools, 'agent__researcher'];
    const [call, ...others] = move(asked, [], delegating).calls ?? [];
    expect([call?.tool, others]).toEqual(['agent__researcher', []]);
    const task = String(call?.input?.['task']);
    expect(answer(task, issues)).toBe(told);
    const outcome = { tool: 'agent__researcher', input: { task }, ok: true, text: told, data: null };
    expect(move(asked, [outcome], delegating).say).toBe(`The researcher says:\n\n${told}`);
  });

  test('a trip that was booked, and what became of those that were not', () => {
    const asked = 'Book a trip to Lisbon.';
    expect(answer(asked, `Booked ${lisbon}\nA deposit of 82 € is due; pay_deposit takes it.`)).toBe(
      'Your trip to **Lisbon** is booked: **T-1002**, 2027-03-14, 2 nights, for Bob Brown.\n\nThere is a deposit of 82 € due; say “Pay the deposit” whenever you like.',
    );
    expect(answer(asked, 'The user decided against booking a trip to Lisbon. Nothing was booked.')).toBe(
      'All right, nothing was booked.',
    );
    expect(answer(asked, 'The user closed the form without deciding. Nothing was booked.')).toMatch(
      /^The question was closed without an answer, so nothing was booked\./,
    );
  });

  test('an offsite, or its draft', () => {
    const what = 'Casa do Rio in Lisbon, 4 January to 6 January, for Alice Adams, Bob Brown';
    expect(answer('Plan an offsite.', `O-1001: Reserved ${what}.`)).toBe(
      `The offsite is reserved: **O-1001**, ${what}.`,
    );
    expect(answer('Plan an offsite.', `O-1001: Kept as a draft, nothing reserved: ${what}.`)).toBe(
      `I kept the offsite as a draft, **O-1001**: ${what}. Nothing is reserved.`,
    );
  });

  test('the trips, and the deposit of the one that was booked last', () => {
    expect(answer('List my trips.', `${porto}\n${lisbon}`)).toBe(
      'The Travel Desk has **2 trips**:\n\n- **T-1001** Porto, 2027-01-20, 5 nights, Alice Adams: deposit paid\n- **T-1002** Lisbon, 2027-03-14, 2 nights, Bob Brown: deposit of 82 € due',
    );
    const asked = 'Pay the deposit.';
    const trips = (text: string) => ({ tool: 'travel__list_trips', input: {}, ok: true, text, data: null });
    const found = trips(`${porto}\n${lisbon}`);
    expect(move(asked, [found]).calls).toEqual([{ tool: 'travel__pay_deposit', input: { trip: 'T-1002' } }]);
    const told = (text: string) =>
      move(asked, [
        found,
        { tool: 'travel__pay_deposit', input: { trip: 'T-1002' }, ok: true, text, data: null },
      ]).say;
    expect(told('The deposit of 82 € for trip T-1002 to Lisbon is paid.')).toBe(
      'Thank you: the deposit of **82 €** for **T-1002** to Lisbon is paid.',
    );
    expect(told('The deposit for trip T-1002 was not paid in time. It is still due.')).toMatch(
      /stopped waiting/,
    );
    expect(told('The user decided not to pay the deposit for trip T-1002 now. It is still due.')).toBe(
      'All right, nothing was paid. The deposit is still due.',
    );
    expect(move(asked, [trips(porto)]).say).toMatch(/nothing to do/);
    expect(answer('List my trips.', 'No trips.')).toMatch(/Book a trip to Lisbon/);
  });

  test('bad news', () => {
    expect(answer('show #99', 'There is no issue #99.', false)).toBe(
      'Sorry, that did not work. There is no issue #99.',
    );
  });
});
