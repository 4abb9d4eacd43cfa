/** By which a process knows whether its keys are those of this database: one for every key that seals or has sealed. */
export interface KeyProofs {
  all(): Promise<KeyProof[]>;
  /** False, and nothing changes, when there is one for this key. */
  add(proof: KeyProof): Promise<boolean>;
  /** Nothing changes when the proof is another one by now. */
  remove(proof: KeyProof): Promise<void>;
}

export interface KeyProof {
  keyId: string;
  /** A text that this key has encrypted. */
  proof: string;
}
