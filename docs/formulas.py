"""Formulas of docstrings, which are plain text for readers of ``help``, and how the site typesets them."""

import re

FORMULAS = {
    # kernels
    "k(x, y) = exp(-||x - y||^2 / (2 sigma^2))": r"k(x, y) = \exp(-\|x - y\|^2 / 2\sigma^2)",
    "exp(-||x - y||^2 / sigma^2)": r"\exp(-\|x - y\|^2 / \sigma^2)",
    "k(x, y) = exp(-gamma ||x - y||_1)": r"k(x, y) = \exp(-\gamma \|x - y\|_1)",
    "k(x, y) = prod_j 1 / (1 + gamma^2 (x_j - y_j)^2)": r"k(x, y) = \prod_j (1 + \gamma^2 (x_j - y_j)^2)^{-1}",
    "sum_i a_i exp(-||x - y||^2 / (2 width^2 sigma_i^2))":
        r"\sum_i a_i \exp(-\|x - y\|^2 / 2\,\mathrm{width}^2 \sigma_i^2)",
    "k(z) = 2^(1-nu) / Gamma(nu) t^nu K_nu(t) with t = sqrt(2 nu) z / length_scale":
        r"k(z) = \frac{2^{1-\nu}}{\Gamma(\nu)} t^\nu K_\nu(t),\ t = \sqrt{2\nu}\, z / \mathrm{length\_scale}",
    "k(z) = (1 + z^2 / (2 alpha length_scale^2))^(-alpha)":
        r"k(z) = (1 + z^2 / 2\alpha\,\mathrm{length\_scale}^2)^{-\alpha}",
    "k(x, y) = scale (gamma <x, y> + coef0)^degree":
        r"k(x, y) = \mathrm{scale}\,(\gamma \langle x, y\rangle + \mathrm{coef0})^{\mathrm{degree}}",
    "k(x, y) = (1 - ||x - y||^2 / a^2)^p": r"k(x, y) = (1 - \|x - y\|^2 / a^2)^p",
    "alpha (q + <x, y>)^p with q = a^2/2 - 1 and alpha = (2/a^2)^p":
        r"\alpha (q + \langle x, y\rangle)^p,\ q = a^2/2 - 1,\ \alpha = (2/a^2)^p",
    "k(x, y) = profile(||x - y|| / width)": r"k(x, y) = \mathrm{profile}(\|x - y\| / \mathrm{width})",
    # maps
    "K_hat = Z diag(e) Z^T": r"\hat K = Z\,\mathrm{diag}(e)\,Z^T",
    "((1 + k(2z))/2 - k(z)^2) / F": r"\frac{1}{F}\left(\frac{1 + k(2z)}{2} - k(z)^2\right)",
    "(F - 1) / F (E Omega_d(sqrt(R1^2 + R2^2) z) - (E Omega_d(R z))^2)":
        r"\frac{F - 1}{F} (\mathbb{E}\,\Omega_d(\sqrt{R_1^2 + R_2^2}\,z) - (\mathbb{E}\,\Omega_d(R z))^2)",
    "K_hat(x, y) is sum_f w_f cos(<v_f, x - y>)": r"\hat K(x, y) = \sum_f w_f \cos\langle v_f, x - y\rangle",
    "sqrt(|w_f|) cos(<v_f, x>) and sqrt(|w_f|) sin(<v_f, x>)":
        r"\sqrt{|w_f|}\cos\langle v_f, x\rangle,\ \sqrt{|w_f|}\sin\langle v_f, x\rangle",
    "sqrt(2 |w_f|) cos(<v_f, x> + b_f)": r"\sqrt{2|w_f|}\cos(\langle v_f, x\rangle + b_f)",
    "sqrt(b) / sigma H D_1 H D_2 H D_3": r"\frac{\sqrt b}{\sigma} H D_1 H D_2 H D_3",
    "sqrt(F) W (W^T W)^(-1/2)": r"\sqrt F\, W (W^T W)^{-1/2}",
    "k_hat(z) = 1 - |z|^2 / (2 sigma^2) + O(|z|^4)": r"\hat k(z) = 1 - |z|^2 / 2\sigma^2 + O(|z|^4)",
    "f(<x, y>) = sum_N a_N <x, y>^N": r"f(\langle x, y\rangle) = \sum_N a_N \langle x, y\rangle^N",
    "sum_n e_n A_n(x) A_n(y) <u(x), u(y)>^n": r"\sum_n e_n A_n(x) A_n(y) \langle u(x), u(y)\rangle^n",
    "scale (gamma <x, y> + coef0)^p": r"\mathrm{scale}\,(\gamma \langle x, y\rangle + \mathrm{coef0})^p",
    "K_hat = Z_up R R^T Z_up^T": r"\hat K = Z_{up} R R^T Z_{up}^T",
    "K_hat = C W^+ C^T": r"\hat K = C W^+ C^T",
    "sum_l sum_i h_li(x) h_li(y) P_l(<u(x), u(y)>)":
        r"\sum_l \sum_i h_{li}(x) h_{li}(y) P_l(\langle u(x), u(y)\rangle)",
    "m^(-1/2) sum_l sqrt(N_l) h_li(x) P_l(<u(x), w>)":
        r"m^{-1/2} \sum_l \sqrt{N_l}\, h_{li}(x) P_l(\langle u(x), w\rangle)",
    "prod_i L_i^(-1/2) sin(w_i (x_i - c_i + L_i))": r"\prod_i L_i^{-1/2} \sin(w_i (x_i - c_i + L_i))",
    "exp(-|x|^2 / 2 sigma^2) exp(-|y|^2 / 2 sigma^2) sum_n (<x, y> / sigma^2)^n / n!":
        r"e^{-|x|^2 / 2\sigma^2} e^{-|y|^2 / 2\sigma^2} \sum_n (\langle x, y\rangle / \sigma^2)^n / n!",
    "exp(-|x|^2 / 2 sigma^2) prod_i (x_i / sigma)^a_i / sqrt(a_i!)":
        r"e^{-|x|^2 / 2\sigma^2} \prod_i (x_i / \sigma)^{a_i} / \sqrt{a_i!}",
    # learners
    "beta = (Z^T Z + c I)^-1 Z^T (y - mean(y))": r"\beta = (Z^T Z + c I)^{-1} Z^T (y - \bar y)",
    "f(x) = mean(y) + <z(x), beta>": r"f(x) = \bar y + \langle z(x), \beta\rangle",
    "f(x) = mean(y) + k(x)^T (K + c I)^-1 (y - mean(y))": r"f(x) = \bar y + k(x)^T (K + c I)^{-1} (y - \bar y)",
    "||w||^2 / 2 + C sum_i loss(y_i <w, z_i>)": r"\|w\|^2 / 2 + C \sum_i \mathrm{loss}(y_i \langle w, z_i\rangle)",
    "||w||^2 / 2 + C sum_i max(0, |y_i - <w, z_i>| - epsilon)^k":
        r"\|w\|^2 / 2 + C \sum_i \max(0, |y_i - \langle w, z_i\rangle| - \varepsilon)^k",
    "mean_i (f(x_i) - y_i)^2 / 2 + alpha ||f||^2 / 2":
        r"\frac{1}{2n} \sum_i (f(x_i) - y_i)^2 + \frac{\alpha}{2} \|f\|^2",
    "M = E grad f grad f^T": r"M = \mathbb{E}\,\nabla f\,\nabla f^T",
    # metrics
    "||K - K_hat||_F / ||K||_F": r"\|K - \hat K\|_F / \|K\|_F",
    "||K - K_hat||_2 / ||K||_2": r"\|K - \hat K\|_2 / \|K\|_2",
    "A (K_hat - K) A with A = (|K| + n ridge I)^(-1/2)":
        r"A (\hat K - K) A,\ A = (|K| + n\,\mathrm{ridge}\,I)^{-1/2}",
}  # fmt: skip
# In a docstring a formula may go on in the next line. Longer ones come first, as they may hold shorter ones.
_PATTERN = re.compile(
    "|".join(re.escape(text).replace(r"\ ", r"\s+") for text in sorted(FORMULAS, key=len, reverse=True))
)


def typeset(text: str) -> str:
    """Return a docstring in which the formulas are reStructuredText's."""
    return _PATTERN.sub(lambda found: f":math:`{FORMULAS[' '.join(found[0].split())]}`", text)
