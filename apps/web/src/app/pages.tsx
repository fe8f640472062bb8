import { lazy, useEffect } from 'react'
import { Route, Routes, useLocation } from 'react-router'
import { Landing } from '../shop/landing/page.tsx'
import { Layout } from './layout.tsx'
import { NotFound } from './not-found.tsx'

const Product = lazy(() => import('../shop/product/page.tsx'))
const Login = lazy(() => import('../shop/login/page.tsx'))
const SignUp = lazy(() => import('../shop/sign-up/page.tsx'))

/** A new page starts at its top, as a page that was loaded would. */
function useTop() {
  const { pathname, hash } = useLocation()
  useEffect(() => {
    if (hash) document.getElementById(hash.slice(1))?.scrollIntoView()
    else window.scrollTo(0, 0)
  }, [pathname, hash])
}

export function Pages() {
  useTop()
  return (
    <Routes>
      <Route element={<Layout />}>
        <Route index element={<Landing />} />
        <Route path="product" element={<Product />} />
        <Route path="login" element={<Login />} />
        <Route path="createAccount" element={<SignUp />} />
        <Route path="*" element={<NotFound />} />
      </Route>
    </Routes>
  )
}
