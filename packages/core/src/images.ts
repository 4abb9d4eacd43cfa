/** Images in the messages of users. */

/** The types that all model providers accept. */
export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

export type ImageType = (typeof imageTypes)[number];

/** The defaults of a service. */
export const imageLimits = {
  perMessage: 8,
  maxBytes: 3_932_160,
  /** Of all images of a message together. */
  maxBytesPerMessage: 7_864_320,
};
