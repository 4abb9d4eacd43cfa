/** Takes the place of your shop: three orders, and a file with a line for each refund. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

const refunds = process.env['REFUNDS_FILE'] ?? 'refunds.txt';

const orders = [
  { order: '1042', item: 'Headphones', euros: 89, daysSinceDelivery: 6 },
  { order: '1043', item: 'Desk lamp', euros: 45, daysSinceDelivery: 21 },
  { order: '1044', item: 'Keyboard', euros: 120, daysSinceDelivery: 95 },
];

export function findOrder(id: string) {
  const found = orders.find(({ order }) => order === id);
  const done = existsSync(refunds) ? readFileSync(refunds, 'utf8').split('\n') : [];
  return found && { ...found, refunded: done.some((line) => line.startsWith(`${id} `)) };
}

export function payBack({ order, euros, reason }: { order: string; euros: number; reason: string }): void {
  appendFileSync(refunds, `${order} ${euros} euros, ${reason}\n`);
}
