/** `plan_offsite`: a wizard. Each of its forms is made from the answers to those before it. */
import { randomUUID } from 'node:crypto';
import { inputRequired } from '@modelcontextprotocol/server';
import type { CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import { defineForm } from './form.ts';
import type { Form } from './form.ts';
import { notDone, said } from './result.ts';
import type { Rounds } from './rounds.ts';
import type { TravelStore } from './store.ts';
import { slotsOf, team, venues } from './venues.ts';
import type { Venue } from './venues.ts';
import { counted } from './wording.ts';

/** All that was answered so far. */
interface Plan {
  id: string;
  /** The day it was begun: the slots on offer are counted from it. */
  from: string;
  city?: string;
  start?: string;
  people?: string[];
  /** How often the form that is open was put to the user. */
  attempt: number;
}

const call = { tool: 'plan_offsite', about: '' };
const mostAttempts = 3;

export async function planOffsite(
  store: TravelStore,
  rounds: Rounds,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const today = new Date().toISOString().slice(0, 10);
  const begun = rounds.read<Plan>(call, context);
  const plan: Plan = begun ?? { id: randomUUID(), from: today, attempt: 0 };
  const step = stepOf(plan);
  const filled = begun ? await step.form.read(context, step.key) : { kind: 'unasked' as const };

  switch (filled.kind) {
    case 'unasked':
      return ask(plan);
    case 'wrong':
      return plan.attempt < mostAttempts
        ? ask(plan, `Please check: ${filled.problems.join('; ')}. `, filled.content)
        : notDone('The offsite was not planned: what was filled in did not fit the form.');
    case 'declined':
      return said('declined', `The user decided against the offsite ${step.when}. ${nothing}`);
    case 'dismissed':
      return said(
        'dismissed',
        `The user closed the form ${step.when} without deciding. ${nothing} It can be begun again.`,
      );
    case 'filled':
      return step.key === 'reserve'
        ? conclude(filled.content['reserve'] === true)
        : ask({ ...plan, ...filled.content, attempt: 0 });
    default:
      return filled satisfies never;
  }

  async function ask(next: Plan, hint = '', entered = {}): Promise<InputRequiredResult> {
    const { key, form, message } = stepOf(next);
    return inputRequired({
      inputRequests: { [key]: form.ask(`${hint}${message}`, entered) },
      requestState: await rounds.write<Plan>(call, { ...next, attempt: next.attempt + 1 }),
    });
  }

  function conclude(isReserved: boolean): CallToolResult {
    const { city = '', start = '', people = [] } = plan;
    const status = isReserved ? 'reserved' : 'draft';
    const offsite = store.plan(plan.id, { city: venueOf(city).city, start, people, status });
    const text = isReserved
      ? `Reserved ${summaryOf(plan)}.`
      : `Kept as a draft, nothing reserved: ${summaryOf(plan)}.`;
    return said(status, `${offsite.id}: ${text}`, { offsite: offsite.id });
  }
}

interface Step {
  key: 'city' | 'start' | 'people' | 'reserve';
  message: string;
  form: Form<Record<string, unknown>>;
  /** Where in the wizard the user was, should it end here. */
  when: string;
}

const nothing = 'Nothing was reserved.';

function stepOf(plan: Plan): Step {
  if (plan.city === undefined)
    return {
      key: 'city',
      message: 'Where should the team meet?',
      form: cityForm,
      when: 'when asked for the city',
    };
  const venue = venueOf(plan.city);
  if (plan.start === undefined) {
    const message = `${venue.house} in ${venue.city} is free on these days. Which ones suit you?`;
    return { key: 'start', message, form: startForm(venue, plan.from), when: 'when asked for the days' };
  }
  if (plan.people === undefined) {
    const message = `Who comes to ${venue.city}? ${venue.house} has room for ${venue.room}.`;
    return { key: 'people', message, form: peopleForm(venue), when: 'when asked who comes' };
  }
  return {
    key: 'reserve',
    message: `All set: ${summaryOf(plan)}.`,
    form: reserveForm,
    when: 'before anything was reserved',
  };
}

const cityForm = defineForm<Record<string, unknown>>({
  type: 'object',
  properties: {
    city: {
      type: 'string',
      title: 'City',
      oneOf: Object.entries(venues).map(([name, { city, house, room }]) => ({
        const: name,
        title: `${city}: ${house}, for ${counted(room, 'person').replace('persons', 'people')}`,
      })),
    },
  },
  required: ['city'],
});

const startForm = (venue: Venue, from: string) =>
  defineForm<Record<string, unknown>>({
    type: 'object',
    properties: {
      start: {
        type: 'string',
        title: 'Days',
        oneOf: slotsOf(venue, from).map(({ start, title }) => ({ const: start, title })),
      },
    },
    required: ['start'],
  });

const peopleForm = ({ room }: Venue) =>
  defineForm<Record<string, unknown>>({
    type: 'object',
    properties: {
      people: {
        type: 'array',
        title: 'People',
        items: { anyOf: Object.entries(team).map(([name, title]) => ({ const: name, title })) },
        minItems: 2,
        maxItems: room,
      },
    },
    required: ['people'],
  });

const reserveForm = defineForm<Record<string, unknown>>({
  type: 'object',
  properties: {
    reserve: {
      type: 'boolean',
      title: 'Reserve it now',
      description: 'No keeps it as a draft; nothing is reserved then',
      default: true,
    },
  },
  required: ['reserve'],
});

function venueOf(name: string): Venue {
  const venue = venues[name];
  if (!venue) throw new Error(`There is no venue called ${name}.`);
  return venue;
}

function summaryOf({ city = '', start, from, people = [] }: Plan): string {
  const venue = venueOf(city);
  const days = slotsOf(venue, from).find((slot) => slot.start === start)?.title ?? start;
  return `${venue.house} in ${venue.city}, ${days}, for ${people.map((name) => team[name] ?? name).join(', ')}`;
}
