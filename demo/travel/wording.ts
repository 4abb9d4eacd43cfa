import type { Trip } from './store.ts';

/** `T-1001 Porto, 2027-01-20, 5 nights, Alice Adams (deposit of 180 € due)` */
export function inOneLine({ id, destination, departure, nights, traveller, deposit }: Trip): string {
  const state = deposit.paidAt === null ? `deposit of ${euros(deposit.euros)} due` : 'deposit paid';
  return `${id} ${destination}, ${departure}, ${counted(nights, 'night')}, ${traveller} (${state})`;
}

export function euros(amount: number): string {
  return `${amount} €`;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
