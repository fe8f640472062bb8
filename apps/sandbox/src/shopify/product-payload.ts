import { publishedAt, type PlatformProduct } from './state.ts'

export function productPayload(product: PlatformProduct) {
  return {
    id: Number(product.id),
    admin_graphql_api_id: `gid://shopify/Product/${product.id}`,
    title: product.title,
    body_html: product.descriptionHtml,
    vendor: 'Netlet',
    product_type: '',
    handle: product.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'),
    template_suffix: null,
    published_scope: 'web',
    published_at: publishedAt(product),
    status: product.status.toLowerCase(),
    tags: product.tags.join(', '),
    created_at: product.createdAt,
    updated_at: product.updatedAt,
    category: null,
    has_variants_that_requires_components: false,
    image: null,
    images: [],
    media: [],
    options: product.optionNames.map((name, index) => ({
      id: Number(`${product.id}${index}`),
      product_id: Number(product.id),
      name,
      position: index + 1,
      values: optionValues(product, index)
    })),
    // All ids, including variants beyond the described ones.
    variant_gids: product.variants.map(({ id }) => ({
      admin_graphql_api_id: `gid://shopify/ProductVariant/${id}`,
      updated_at: product.updatedAt
    })),
    variants: product.variants.slice(0, 100).map((variant, index) => ({
      id: Number(variant.id),
      admin_graphql_api_id: `gid://shopify/ProductVariant/${variant.id}`,
      product_id: Number(product.id),
      title: variant.title,
      price: variant.price,
      compare_at_price: null,
      position: index + 1,
      option1: variant.options[0] ?? '',
      option2: variant.options[1] ?? null,
      option3: variant.options[2] ?? null,
      sku: null,
      barcode: null,
      taxable: false,
      image_id: null,
      inventory_item_id: null,
      inventory_policy: 'deny',
      inventory_quantity: variant.stock ?? 0,
      old_inventory_quantity: 0,
      created_at: product.createdAt,
      updated_at: product.updatedAt
    }))
  }
}

/** An option's values among the variants, in the order of their first use. */
export const optionValues = (product: PlatformProduct, index: number): string[] => [
  ...new Set(product.variants.map(variant => variant.options[index]).filter(value => value !== undefined))
]
