/** Forms in Slack's modals: filled in, corrected, sent once, by the asked person, while the question is open. */
import { expect, test } from 'vitest';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import { inputsOf } from '../../servers/slack/entered.ts';
import { answerForTrip, asksForCity, said, untilTaken, useAskingInSlack } from './asking-in-slack.ts';

const setup = await useAskingInSlack();
const { begin, opened, submit, statusOf, server } = setup;

const fields = {
  city: { type: 'string', title: 'City', minLength: 2, description: 'Where to' },
  nights: { type: 'integer', title: 'Nights', minimum: 1, maximum: 30, default: 2 },
  room: { type: 'string', title: 'Room', enum: ['single', 'double'], enumNames: ['Single', 'Double'] },
  meals: { type: 'array', title: 'Meals', items: { type: 'string', enum: ['breakfast', 'dinner'] } },
  pets: { type: 'boolean', title: 'Pets', default: false },
  arrival: { type: 'string', title: 'Arrival', format: 'date' },
  call: { type: 'string', title: 'Call me', format: 'date-time' },
  mail: { type: 'string', title: 'Mail', format: 'email' },
};
const trip = () => [asks({ trip: form('Where to?', fields, { required: ['city', 'room'] }) })];

test('a form is filled in: its defaults, descriptions and limits are there, and what does not fit is said below its field', async () => {
  const asked = await begin(trip());
  const window = await opened(asked);
  expect(window.by).toBe('U1');
  expect(said(window)).toContain('*Asking* asks, for Assistant');
  expect(said(window)).toContain('Where to?');
  expect(JSON.parse(said(window))).toMatchObject({ private_metadata: window.elicitationId });
  const inputs = Object.fromEntries(inputsOf(window.view).map((input) => [input.label.text, input]));
  expect(inputs).toMatchObject({
    City: {
      optional: false,
      hint: { text: 'Where to' },
      element: { type: 'plain_text_input', min_length: 2 },
    },
    Nights: {
      optional: true,
      element: { type: 'number_input', min_value: '1', max_value: '30', initial_value: '2' },
    },
    Room: { element: { type: 'radio_buttons' } },
    Meals: { element: { type: 'checkboxes' } },
    Pets: { element: { initial_option: { text: { text: 'No' } } } },
    Arrival: { element: { type: 'datepicker' } },
    'Call me': { element: { type: 'datetimepicker' } },
    Mail: { element: { type: 'email_text_input' } },
  });

  const wrong = { City: 'Lisbon', Room: 'Double', Nights: '3.5', Mail: 'nobody' };
  expect((await submit(window, wrong)).status).toBe(200);
  const blockOf = (label: string) => inputs[label]?.block_id ?? '';
  expect(window.errors).toEqual({
    [blockOf('Nights')]: 'Please write a whole number.',
    [blockOf('Mail')]: expect.stringContaining('email'),
  });
  expect(await statusOf(window.elicitationId)).toBe('pending');

  await submit(window, {
    ...wrong,
    Nights: '3',
    Mail: 'a@example.com',
    Meals: ['Dinner', 'Breakfast'].map((meal) => meal.toLowerCase()),
    Arrival: '2026-12-24',
    'Call me': 1_798_113_600,
  });
  await untilTaken(window);
  expect(await asked.end()).toEqual(['*Asking*: Answered.', 'done']);
  expect(answerForTrip(server)).toEqual({
    action: 'accept',
    content: {
      city: 'Lisbon',
      nights: 3,
      room: 'double',
      meals: ['dinner', 'breakfast'],
      pets: false,
      arrival: '2026-12-24',
      call: '2026-12-24T12:00:00Z',
      mail: 'a@example.com',
    },
  });
});

test('only whoever was asked gets anything from a window: another user, another workspace, a window that names another question', async () => {
  const asked = await begin(asksForCity());
  const window = await opened(asked);
  const { elicitationId } = window;
  const globex = setup.slack.addWorkspace('T2', 'Globex');
  globex.addUser('U1');
  const forged = async (more: { by?: string; team?: string }) => {
    const { body } = await submit(window, { City: 'Lisbon' }, { metadata: elicitationId, ...more });
    return body;
  };
  expect(await forged({ by: 'U2' })).toContain('This is for another person');
  expect(await forged({ by: 'U3' })).toContain('I do not know who you are yet');
  expect(await forged({ team: 'T2' })).toBe('');
  const other = await submit(window, { City: 'Lisbon' }, { metadata: 'another' });
  expect(other.body).toContain('There is no such question any more.');
  const nul = await submit(window, { City: 'Lisbon' }, { metadata: 'a\u0000b' });
  expect(nul).toMatchObject({ status: 200, body: '' });
  expect(await statusOf(elicitationId)).toBe('pending');
  expect(await setup.service.storage.audit.ofElicitation(elicitationId)).toMatchObject([
    { action: 'refused', actor: 'bob', detail: 'another user, in Slack' },
  ]);
  await submit(window, { City: 'Lisbon' });
  expect(await asked.end()).toContain('done');
  expect(await setup.service.storage.audit.ofElicitation(elicitationId)).toContainEqual(
    expect.objectContaining({ action: 'answered', actor: 'alice', detail: 'accept' }),
  );
});
