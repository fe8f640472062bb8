import { Navigate, useParams } from 'react-router'
import { AddProduct } from './add.tsx'
import { EditProduct } from './edit.tsx'
import { Products } from './list.tsx'
import { LIST } from './paths.ts'

/** The list; `/new` adds a product, `/7` edits one. */
export default function ProductsPage() {
  const { product } = useParams()
  if (product === undefined) return <Products />
  if (product === 'new') return <AddProduct />
  return /^[1-9]\d{0,14}$/.test(product) ? (
    <EditProduct key={product} id={Number(product)} />
  ) : (
    <Navigate to={LIST} replace />
  )
}
