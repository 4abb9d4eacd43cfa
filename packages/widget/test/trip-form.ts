/** A form with a field of every kind, filled in with the keyboard alone. */
import { expect } from 'vitest';
import { focusIsKept, isFocused, tabTo } from './keyboard.ts';
import type { WidgetPageSetup, Visitor } from './widget-page.ts';

interface Browsers {
  /** In a field for a day and a time, from the last part of the day to the first of the time. */
  fromDayToTime: string[];
}

/** Corrected where it is wrong, it arrives as typed. The visitor is American, in Berlin. */
export async function tripJourney(
  setup: WidgetPageSetup,
  { page, view, say }: Visitor,
  { fromDayToTime }: Browsers,
): Promise<void> {
  await say('call travel__book_trip {"destination":"Lisbon"}');
  const field = (label: string) => view.locator('.card').getByLabel(new RegExp(`^${label}`));
  const write = async (label: string, ...keys: string[]) => {
    await tabTo(page, field(label));
    for (const text of keys)
      await (text.length > 1 && text.startsWith('Arrow')
        ? page.keyboard.press(text)
        : page.keyboard.type(text));
  };
  await tabTo(page, field('Traveller'), 'Shift+Tab');
  await page.keyboard.type('Ada Lovelace');
  await write('Email', 'bob@x');
  // In summer, so that the zone is two hours ahead; next year, so that it is in the future.
  const year = new Date().getUTCFullYear() + 1;
  await write('Day of departure', `0702${year}`);
  await write('Taxi', `0630${year}`, ...fromDayToTime, '0630AM');
  await write('Nights');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('12');
  await write('Budget', '1234.5');
  await tabTo(page, field('Window seat'));
  await page.keyboard.press('Space');
  await tabTo(page, view.getByLabel('Economy', { exact: true }));
  await page.keyboard.press('ArrowDown');
  await tabTo(page, view.getByLabel('standard'));
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await tabTo(page, view.getByLabel('Airport lounge'));
  await page.keyboard.press('Space');
  await tabTo(page, view.getByLabel('Train to the airport'));
  await page.keyboard.press('Space');
  await write('Loyalty number', 'AB 12-3456');
  await page.keyboard.press('Enter');

  // The service says what the browser could not know, and where.
  await view.locator('.card .field .problem').waitFor();
  await expect.poll(() => isFocused(field('Email'))).toBe(true);
  expect(await field('Email').getAttribute('aria-invalid')).toBe('true');
  expect(await view.locator('.card [aria-invalid=true]').count()).toBe(1);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('ada@example.org');
  // And what the taxi's time is worth, only the desk knows: it asks once more, with what was written still there.
  await tabTo(page, field('Taxi'));
  await page.keyboard.type('0620');
  await page.keyboard.press('Enter');
  await view.getByText(/Please check your trip to Lisbon: the taxi has to come on/).waitFor();
  expect(await focusIsKept(page)).toBe(true);
  expect(await field('Traveller').inputValue()).toBe('Ada Lovelace');
  await tabTo(page, field('Taxi'));
  await page.keyboard.type('0701');
  await page.keyboard.press('Enter');
  await view.locator('.markdown').getByText('Booked').waitFor();
  expect(setup.travel.books.trips.at(-1)).toMatchObject({
    destination: 'Lisbon',
    traveller: 'Ada Lovelace',
    email: 'ada@example.org',
    departure: `${year}-07-02`,
    pickUp: `${year}-07-01T04:30:00.000Z`,
    nights: 12,
    budget: 1234.5,
    windowSeat: false,
    class: 'premium',
    meals: 'vegan',
    extras: ['lounge', 'train'],
    loyaltyNumber: 'AB 12-3456',
  });
  expect(await focusIsKept(page)).toBe(true);
}
