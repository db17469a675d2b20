/** A picture as operators see it. */
export interface ImageView {
  /** The picture's file name below /redeem/images: the hash of its bytes, with an extension. */
  readonly file: string;
  readonly mediaType: string;
  readonly bytes: number;
}

/**
 * SQL: the file name of the picture in a row of the table images: the picture's hash and an extension. Null if there is
 * no row.
 */
export const imageFile = (row: string) =>
  `${row}.image_hash || case ${row}.media_type when 'image/png' then '.png' else '.svg' end`;

/** SQL: an ImageView as JSON for a row of the table images. Null if there is no row. */
export const imageView = (row: string) =>
  `case when ${row}.image_hash is not null then json_build_object('file', ${imageFile(row)},
     'mediaType', ${row}.media_type, 'bytes', octet_length(${row}.bytes)) end`;
