/** Where a team can meet, when, and who is on it. */
export interface Venue {
  city: string;
  house: string;
  /** People it has room for. */
  room: number;
  /** Weeks from now in which it is free. */
  freeWeeks: number[];
}

export const venues: Record<string, Venue> = {
  lisbon: { city: 'Lisbon', house: 'Casa do Rio', room: 4, freeWeeks: [5, 8, 11] },
  copenhagen: { city: 'Copenhagen', house: 'Havnehuset', room: 3, freeWeeks: [6, 7] },
  vienna: { city: 'Vienna', house: 'Haus am Park', room: 6, freeWeeks: [4, 9, 10, 13] },
};

export const team: Record<string, string> = {
  alice: 'Alice Adams',
  bob: 'Bob Brown',
  carla: 'Carla Costa',
  deniz: 'Deniz Demir',
  eva: 'Eva Egger',
};

export interface Slot {
  start: string;
  title: string;
}

const dayMs = 86_400_000;
const format = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' });

/** The Monday-to-Wednesday slots of a venue, counted from a day on. */
export function slotsOf({ freeWeeks }: Venue, from: string): Slot[] {
  const today = new Date(from);
  const monday = today.getTime() - ((today.getUTCDay() + 6) % 7) * dayMs;
  return freeWeeks.map((weeks) => {
    const start = new Date(monday + weeks * 7 * dayMs);
    const end = new Date(start.getTime() + 2 * dayMs);
    return {
      start: start.toISOString().slice(0, 10),
      title: `${format.format(start)} to ${format.format(end)}`,
    };
  });
}
