import { periodTypes, settlementModes } from '../enums.js';
import { Cents, CycleNo, Enum, OutText, pageFields } from './common.js';
import { type Static, Type } from './type.js';

export const ProductBenefit = Type.Object({
  benefitCode: OutText,
  name: OutText,
  faceValueCent: Cents,
});

export const Product = Type.Object({
  productCode: OutText,
  productName: OutText,
  settlementModes: Type.Array(Enum(settlementModes)),
  periodType: Enum(periodTypes),
  period: Type.Integer({ minimum: 1 }),
  totalCycles: CycleNo,
  amountCent: Cents,
  benefits: Type.Array(ProductBenefit),
});
export type Product = Static<typeof Product>;

export const ProductsListData = Type.Object({ items: Type.Array(Product), ...pageFields });
