/** How far a turn has been brought to somebody outside, such as a thread in Slack or the target of notifications. */
export interface DeliveryReport<Position, End extends string> {
  /**
   * `working`: more is to come soon. `waiting`: nothing is to be sent until something happens. `busy`: this worker delivers
   * enough already, in all or for this caller. `limited`: they want to be left alone for a while. `failed`: they do not answer.
   * `End`: nothing is left to do.
   */
  kind: 'working' | 'waiting' | 'busy' | 'limited' | 'failed' | End;
  /** Up to where in the log. */
  position: Position;
  /** How long they asked to be left alone. */
  retryAfterMs?: number;
}
