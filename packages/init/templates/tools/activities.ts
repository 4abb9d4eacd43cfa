/** The effects of the tools, for Node: each call of a function here happens once. */
export interface Booking {
  people: number;
  time: string;
  outside: boolean;
}

/** Here you would call the restaurant. */
export async function book({ people, time }: Booking): Promise<string> {
  return `T${people}-${time.replace(':', '')}`;
}
