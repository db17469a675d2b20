/** A picture as operators see it. */
export interface ImageView {
  /** Its name below /redeem/images: the hash of its bytes, with an ending. */
  readonly file: string;
  readonly mediaType: string;
  readonly bytes: number;
}

/** The name of a picture's file, of a row of images: its hash and an ending. Null when there is no row. */
export const imageFile = (row: string) =>
  `${row}.image_hash || case ${row}.media_type when 'image/png' then '.png' else '.svg' end`;

/** An ImageView as JSON, of a row of images. Null when there is no row. */
export const imageView = (row: string) =>
  `case when ${row}.image_hash is not null then json_build_object('file', ${imageFile(row)},
     'mediaType', ${row}.media_type, 'bytes', octet_length(${row}.bytes)) end`;
